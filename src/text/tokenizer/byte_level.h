// byte_level.h: the alphabet in which byte-level vocabularies are written: each byte is one printable character.
// Bytes 33..126, 161..172 and 174..255 stand for themselves; the other 68, in order, are U+0100 and on (space is U+0120).
// Source: openai/gpt-2, encoder.py, bytes_to_unicode.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lagoon {

/// The character that stands for a byte, U+0021 to U+0143.
char32_t byte_level_character(uint8_t byte);

/// The bytes that a token stands for; nothing if one of its characters is outside of the alphabet.
std::optional<std::string> byte_level_bytes(std::string_view token);

}  // namespace lagoon
