// stop_strings.h: finds stop strings in text that arrives in pieces, however it is cut. Text is held back only while it
// could still be the beginning of a stop string.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

class StopStrings {
 public:
  /// @throws Error(invalid) if one is empty or not valid UTF-8, which no text could contain
  explicit StopStrings(std::vector<std::string> strings);

  /// Takes the next piece and returns what can be shown. The first stop string to be completed ends the text before its
  /// first byte (of several that end there, the longest); from then on stopped() is true and nothing more is returned.
  std::string push(std::string_view piece);

  /// What was still held back, once the text has ended without a stop string.
  std::string finish();

  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> strings_;
  std::string held_;  // arrived, not yet returned
  bool stopped_ = false;
};

}  // namespace lagoon
