#include "commands/progress.h"

#include "base/error.h"
#include "commands/output.h"
#include "commands/terminal.h"

#include <algorithm>
#include <chrono>

namespace lagoon {
namespace {

constexpr int64_t silent_milliseconds = 2000;
constexpr int64_t pause_milliseconds = 100;  // between two pictures
constexpr int widest_bar = 30;
constexpr int narrowest_bar = 5;
constexpr int longest_line = 100;

int64_t milliseconds_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// As exact as a guess deserves: "45 s", "12 min", "3.5 h".
std::string format_duration(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400.0) return fmt::format("{:.0f} min", seconds / 60.0);
  if (seconds < 360000.0) return fmt::format("{:.1f} h", seconds / 3600.0);
  return "more than 100 h";
}

std::string format_rate(double rate, std::string_view unit) {
  if (unit != "bytes") return fmt::format("{:.{}f} {}/s", rate, rate < 10.0 ? 1 : 0, unit);
  constexpr double mib = 1 << 20;
  return rate < 512.0 * mib ? fmt::format("{:.1f} MiB/s", rate / mib) : fmt::format("{:.2f} GiB/s", rate / mib / 1024.0);
}

std::string bar_of(double share, int width) {
  const int full = std::clamp(static_cast<int>(share * width), 0, width);
  return "[" + std::string(static_cast<size_t>(full), '#') + std::string(static_cast<size_t>(width - full), ' ') + "]";
}

}  // namespace

std::string progress_text(const ProgressState& state, int columns) {
  const int room = std::clamp(columns - 1, 0, longest_line);
  const double share = std::clamp(static_cast<double>(state.done) / static_cast<double>(std::max<uint64_t>(state.total, 1)), 0.0, 1.0);
  const std::string percent = fmt::format("{:3.0f} %", share * 100.0);
  std::string rate;
  std::string left;
  if (share > 0.0 && state.seconds > 0.0) {
    if (!state.unit.empty()) rate = "  " + format_rate(static_cast<double>(state.done) / state.seconds, state.unit);
    left = "  " + format_duration(state.seconds * (1.0 / share - 1.0)) + " left";
  }
  const auto width = [](std::string_view text) { return static_cast<int>(text.size()); };
  const int name = terminal_width(state.what) + 2;
  const int bar = std::min(widest_bar, room - name - 2 - 2 - width(percent) - width(rate) - width(left));
  const std::string start = std::string(state.what) + "  ";
  if (bar >= narrowest_bar) return start + bar_of(share, bar) + "  " + percent + rate + left;
  if (name + width(percent) + width(rate) + width(left) <= room) return start + percent + rate + left;
  if (name + width(percent) + width(left) <= room) return start + percent + left;
  if (name + width(percent) <= room) return start + percent;
  return width(percent) <= room ? percent : "";
}

ProgressLine::ProgressLine(bool shown, std::string_view what, std::string_view unit)
    : shown_(shown), what_(what), unit_(unit), start_(milliseconds_now()) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::erase() {
  if (visible_) write_error("\r\x1b[K");
  visible_ = false;
}

void ProgressLine::update(uint64_t done, uint64_t total) {
  if (!shown_ || total == 0) return;
  if (done >= total) return erase();  // what comes next has the line for itself
  const int64_t now = milliseconds_now();
  if (now - start_ < silent_milliseconds || now - last_ < pause_milliseconds) return;
  last_ = now;
  visible_ = true;
  const ProgressState state = {.what = what_, .unit = unit_, .done = done, .total = total, .seconds = static_cast<double>(now - start_) / 1000.0};
  write_error("\r\x1b[K" + progress_text(state, error_columns()));
}

}  // namespace lagoon
