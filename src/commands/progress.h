// progress.h: one line on standard error that is overwritten while work goes on:
//   reading weights  [##########              ]  45 %  1.21 GiB/s  12 s left
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lagoon {

/// What a progress line shows.
struct ProgressState {
  std::string_view what;  // "reading weights"
  std::string_view unit;  // "bytes" (shown in GiB or MiB), "tokens", ...; empty: no rate is shown
  uint64_t done = 0;
  uint64_t total = 0;    // > 0
  double seconds = 0.0;  // since the work began
};

/// The line, without a newline and of fewer than `columns` columns, so that no terminal wraps it. What matters least is left out first:
/// the bar, the rate, the time left, the end of the name.
std::string progress_text(const ProgressState& state, int columns);

/// Shows nothing before two seconds have passed, and nothing at all unless `shown`. The line is gone when all is done, and when the
/// object is: also on the way out of an error.
class ProgressLine {
 public:
  /// @param shown  Environment::error_is_terminal
  /// @param unit   of what update() counts
  ProgressLine(bool shown, std::string_view what, std::string_view unit = {});
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void update(uint64_t done, uint64_t total);

 private:
  void erase();

  bool shown_;
  bool visible_ = false;
  std::string what_;
  std::string unit_;
  int64_t start_;  // milliseconds of the steady clock
  int64_t last_ = 0;
};

}  // namespace lagoon
