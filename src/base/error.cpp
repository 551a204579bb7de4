#include "base/error.h"

#include "base/utf8.h"

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

}  // namespace

const char* name_of(ErrorKind kind) { return row_of(kind).name; }

int exit_code_of(ErrorKind kind) { return row_of(kind).exit_code; }

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    if (at >= limit) return out + "...";
    const size_t length = valid_utf8_length(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
      ++at;
    } else {
      out.append(text.substr(at, length));
      at += length;
    }
  }
  return out;
}

}  // namespace lagoon
