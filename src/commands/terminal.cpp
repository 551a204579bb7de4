#include "commands/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace lagoon {
namespace {

constexpr int usual_columns = 80;

/// 0 where it is no terminal or does not say.
int columns_of(int descriptor) {
  struct winsize size = {};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int columns_of_environment() {
  const char* value = std::getenv("COLUMNS");
  int columns = 0;
  if (value != nullptr) std::from_chars(value, value + std::char_traits<char>::length(value), columns);
  return columns;
}

}  // namespace

int error_columns() {
  const int columns = columns_of(STDERR_FILENO);
  return columns > 0 ? columns : usual_columns;
}

int help_columns() {
  int columns = columns_of(STDOUT_FILENO);
  if (columns <= 0) columns = columns_of_environment();
  if (columns <= 0) columns = usual_columns;
  return std::clamp(columns, 40, 100);
}

int terminal_width(std::string_view text) {
  int width = 0;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x80) ++width;
    if (byte >= 0xc0) width += 2;  // the first byte of a longer character
  }
  return width;
}

std::vector<std::string> wrapped(std::string_view text, int width) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line;
    for (size_t at = begin; at < end;) {
      const size_t next = std::min(text.find(' ', at), end);
      const std::string_view word = text.substr(at, next - at);
      if (!line.empty() && terminal_width(line) + 1 + terminal_width(word) > width) {
        lines.push_back(line);
        line.clear();
      }
      if (!line.empty()) line += ' ';
      line += word;
      at = next + 1;
    }
    lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

}  // namespace lagoon
