// utf8.h: reading and writing UTF-8 (RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lagoon {

/// Bytes (1 to 4) of the valid character at the front of `text`; 0 if there is none or it is malformed or cut short.
size_t valid_utf8_length(std::string_view text);

/// Length of the maximal subpart of an ill-formed sequence at the front of `text` (Unicode 15, section 3.9, table 3-8), the
/// stretch that one U+FFFD replaces, 1 to 3 bytes. @pre valid_utf8_length(text) == 0 and text is not empty.
/// `*could_continue` (when given) tells whether the sequence ends with the text and further bytes could complete it.
size_t invalid_utf8_length(std::string_view text, bool* could_continue = nullptr);

/// The code point of a valid character of `length` bytes at the front of `text`.
char32_t decode_utf8(std::string_view text, size_t length);

/// Appends the encoding of a scalar value to `out`. @pre code is no surrogate and at most U+10FFFF
void append_utf8(std::string& out, char32_t code);

bool is_valid_utf8(std::string_view text);

/// `text` with every ill-formed stretch replaced by U+FFFD, one for each maximal subpart.
std::string replace_invalid_utf8(std::string_view text);

}  // namespace lagoon
