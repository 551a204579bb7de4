#include "text/tokenizer/unicode_newer.h"

#include "base/utf8.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace lagoon {
namespace {

const NewerRange* range_of(char32_t code) {
  const std::span<const NewerRange> ranges = newer_ranges();
  const auto found =
      std::upper_bound(ranges.begin(), ranges.end(), code, [](char32_t value, const NewerRange& range) { return value <= range.last; });
  return found != ranges.end() && found->first <= code ? &*found : nullptr;
}

/// Bytes at the front that are ASCII, in steps of eight.
size_t ascii_length(std::string_view text) {
  size_t at = 0;
  while (at + 8 <= text.size()) {
    uint64_t word = 0;
    std::copy_n(text.data() + at, 8, reinterpret_cast<char*>(&word));
    if (word & 0x8080808080808080u) break;
    at += 8;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

/// Which blocks of 64 characters, the characters that share all bytes but the last, hold a newer one.
class BlockSet {
 public:
  BlockSet() {
    for (const NewerRange& range : newer_ranges()) {
      for (char32_t block = range.first >> 6; block <= range.last >> 6; ++block) words_[block >> 6] |= uint64_t{1} << (block & 63);
    }
  }
  bool holds(char32_t code) const { return (words_[code >> 12] >> ((code >> 6) & 63)) & 1; }

 private:
  std::array<uint64_t, 0x110> words_{};
};

/// Calls visit(offset, length, code) for each character that may be newer.
template <typename Visit>
void visit_candidates(std::string_view text, const Visit& visit) {
  static const BlockSet blocks;
  size_t at = 0;
  while (true) {
    at += ascii_length(text.substr(at));
    if (at >= text.size()) return;
    const auto lead = static_cast<uint8_t>(text[at]);
    const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length > 2) {  // no newer character has two bytes
      const char32_t code = decode_utf8(text.substr(at), length);
      if (blocks.holds(code) && visit(at, length, code)) return;
    }
    at += length;
  }
}

}  // namespace

char32_t known_character(char32_t code) {
  const NewerRange* range = range_of(code);
  return range ? range->stand_in : code;
}

bool has_newer_character(std::string_view text) {
  bool found = false;
  visit_candidates(text, [&found](size_t, size_t, char32_t code) { return found = range_of(code) != nullptr; });
  return found;
}

std::string with_stand_ins(std::string_view text) {
  std::string out(text);
  visit_candidates(text, [&out](size_t at, size_t length, char32_t code) {
    std::string stand_in;
    append_utf8(stand_in, known_character(code));
    out.replace(at, length, stand_in);
    return false;
  });
  return out;
}

char32_t simple_lowercase(char32_t code) {
  const std::span<const NewerLowercase> rows = newer_lowercase();
  const auto row = std::lower_bound(rows.begin(), rows.end(), code, [](const NewerLowercase& one, char32_t value) { return one.code < value; });
  if (row != rows.end() && row->code == code) return row->lowercase;
  return static_cast<char32_t>(u_tolower(static_cast<UChar32>(code)));
}

}  // namespace lagoon
