#include "base/error.h"

#include "base/utf8.h"

#include <algorithm>
#include <array>

namespace lagoon {
namespace {

struct KindRow {
  ErrorKind kind;
  const char* name;
  int exit_code;
};

constexpr std::array<KindRow, 7> kinds = {{
    {ErrorKind::invalid, "invalid", 2},
    {ErrorKind::unsupported, "unsupported", 2},
    {ErrorKind::corrupt, "corrupt", 2},
    {ErrorKind::over_budget, "over_budget", 1},
    {ErrorKind::io, "io", 1},
    {ErrorKind::cancelled, "cancelled", 130},
    {ErrorKind::bug, "bug", 1},
}};

const KindRow& row_of(ErrorKind kind) {
  for (const KindRow& row : kinds) {
    if (row.kind == kind) return row;
  }
  return kinds.back();
}

/// Control characters of either table, breaks of lines and paragraphs, and what turns the direction of the text around it.
bool steers(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

const char* name_of(ErrorKind kind) { return row_of(kind).name; }

int exit_code_of(ErrorKind kind) { return row_of(kind).exit_code; }

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    if (at >= limit) return out + "...";
    const size_t length = valid_utf8_length(text.substr(at));
    const std::string_view character = text.substr(at, std::max<size_t>(length, 1));
    if (length == 0 || steers(decode_utf8(character, length))) {
      for (const char byte : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      out.append(character);
    }
    at += character.size();
  }
  return out;
}

}  // namespace lagoon
