#include "text/stop_strings.h"

#include "base/error.h"
#include "base/utf8.h"

#include <algorithm>
#include <utility>

namespace lagoon {
namespace {

/// Length of the longest end of `text` that begins `string` without being all of it.
size_t open_length(std::string_view text, std::string_view string) {
  for (size_t length = std::min(text.size(), string.size() - 1); length > 0; --length) {
    if (text.substr(text.size() - length) == string.substr(0, length)) return length;
  }
  return 0;
}

}  // namespace

StopStrings::StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
  for (const std::string& string : strings_) {
    if (string.empty()) fail(ErrorKind::invalid, "a stop string is empty; it would stop every text at once; leave it out");
    if (!is_valid_utf8(string)) fail(ErrorKind::invalid, "the stop string `{}` is not valid UTF-8; write it in that encoding", printable(string));
  }
}

std::string StopStrings::push(std::string_view piece) {
  if (stopped_) return {};
  held_ += piece;
  size_t first_end = std::string::npos;
  size_t first_begin = 0;
  for (const std::string& string : strings_) {
    const size_t begin = held_.find(string);
    if (begin == std::string::npos) continue;
    const size_t end = begin + string.size();
    if (end < first_end || (end == first_end && begin < first_begin)) {
      first_end = end;
      first_begin = begin;
    }
  }
  if (first_end != std::string::npos) {
    stopped_ = true;
    held_.resize(first_begin);
    return std::exchange(held_, {});
  }
  size_t open = 0;
  for (const std::string& string : strings_) open = std::max(open, open_length(held_, string));
  std::string shown = held_.substr(0, held_.size() - open);
  held_.erase(0, shown.size());
  return shown;
}

std::string StopStrings::finish() { return stopped_ ? std::string() : std::exchange(held_, {}); }

}  // namespace lagoon
