#include "base/byte_size.h"

#include "base/error.h"

#include <array>

namespace lagoon {
namespace {

__extension__ using Wide = unsigned __int128;

struct Unit {
  std::string_view name;
  uint64_t bytes;
};

constexpr std::array<Unit, 9> units = {{
    {"B", 1},
    {"kB", 1000},
    {"MB", 1000ull * 1000},
    {"GB", 1000ull * 1000 * 1000},
    {"TB", 1000ull * 1000 * 1000 * 1000},
    {"KiB", 1ull << 10},
    {"MiB", 1ull << 20},
    {"GiB", 1ull << 30},
    {"TiB", 1ull << 40},
}};

constexpr std::string_view advice = "write a size such as 64GB (64 x 10^9 bytes) or 64GiB (64 x 2^30 bytes)";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Hundredths of `unit` in `bytes`, rounded to nearest.
std::string in_hundredths(uint64_t bytes, uint64_t unit) {
  const Wide scaled = static_cast<Wide>(bytes) * 100 + unit / 2;
  const auto hundredths = static_cast<uint64_t>(scaled / unit);
  return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
}

}  // namespace

uint64_t parse_byte_size(std::string_view text, std::string_view what) {
  size_t at = 0;
  Wide digits = 0;  // the number without its decimal point
  Wide scale = 1;   // ten to the number of decimals
  bool any = false;
  bool decimals = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !decimals && any)); ++at) {
    if (text[at] == '.') {
      decimals = true;
      continue;
    }
    any = true;
    if (at > 20) fail(ErrorKind::invalid, "{} `{}`: the number is too long; {}", what, printable(text), advice);
    digits = digits * 10 + static_cast<unsigned>(text[at] - '0');
    if (decimals) scale *= 10;
  }
  if (!any || text[at - 1] == '.') fail(ErrorKind::invalid, "{} `{}`: no number stands before the unit; {}", what, printable(text), advice);

  const std::string_view name = text.substr(at);
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    const Wide scaled = digits * unit.bytes;
    if (scaled % scale != 0) fail(ErrorKind::invalid, "{} `{}`: that is no whole number of bytes; {}", what, printable(text), advice);
    if (scaled / scale >= (static_cast<Wide>(1) << 63))
      fail(ErrorKind::invalid, "{} `{}`: that is 2^63 bytes or more; {}", what, printable(text), advice);
    return static_cast<uint64_t>(scaled / scale);
  }
  if (name.empty()) fail(ErrorKind::invalid, "{} `{}`: the unit is missing; {}", what, printable(text), advice);
  fail(ErrorKind::invalid, "{} `{}`: unknown unit `{}`; {}", what, printable(text), printable(name), advice);
}

std::string format_gib(uint64_t bytes) { return in_hundredths(bytes, 1ull << 30) + " GiB"; }

std::string format_binary(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (bytes < 1ull << 20) return in_hundredths(bytes, 1ull << 10) + " KiB";
  if (bytes < 1ull << 30) return in_hundredths(bytes, 1ull << 20) + " MiB";
  return format_gib(bytes);
}

std::string format_count(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string format_bytes(uint64_t bytes) { return format_count(bytes) + (bytes == 1 ? " byte" : " bytes"); }

}  // namespace lagoon
