#include "text/tokenizer/byte_level.h"

#include "base/utf8.h"

#include <array>

namespace lagoon {
namespace {

constexpr bool stands_for_itself(int byte) { return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255); }

constexpr char32_t first_moved = 0x100;  // the characters of the moved bytes begin here

constexpr std::array<char32_t, 256> make_characters() {
  std::array<char32_t, 256> characters{};
  char32_t next = first_moved;
  for (int byte = 0; byte < 256; ++byte) characters[static_cast<size_t>(byte)] = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
  return characters;
}

constexpr std::array<char32_t, 256> characters = make_characters();
constexpr size_t character_count = first_moved + 68;

constexpr std::array<int16_t, character_count> make_bytes() {
  std::array<int16_t, character_count> bytes{};
  for (int16_t& byte : bytes) byte = -1;
  for (size_t byte = 0; byte < 256; ++byte) bytes[characters[byte]] = static_cast<int16_t>(byte);
  return bytes;
}

constexpr std::array<int16_t, character_count> bytes = make_bytes();

}  // namespace

char32_t byte_level_character(uint8_t byte) { return characters[byte]; }

std::optional<std::string> byte_level_bytes(std::string_view token) {
  std::string out;
  while (!token.empty()) {
    const size_t length = valid_utf8_length(token);
    const char32_t code = length == 0 ? character_count : decode_utf8(token, length);
    if (code >= character_count || bytes[code] < 0) return std::nullopt;
    out.push_back(static_cast<char>(bytes[code]));
    token.remove_prefix(length);
  }
  return out;
}

}  // namespace lagoon
