// unicode.h: what Python 3.11 knows about characters (Unicode 14), through ICU. Characters that are newer than Unicode 14
// count as unassigned.
#pragma once

#include <string>
#include <string_view>

namespace lagoon::jinja {

bool is_space(char32_t code);       // str.isspace, what strip and split go by
bool is_line_break(char32_t code);  // what splitlines goes by
bool is_alpha(char32_t code);
bool is_decimal(char32_t code);
bool is_digit(char32_t code);
bool is_numeric(char32_t code);
bool is_alnum(char32_t code);
bool is_lower(char32_t code);
bool is_upper(char32_t code);
bool is_cased(char32_t code);      // lower, upper or title case
bool is_printable(char32_t code);  // repr leaves it as it is
bool is_identifier_part(char32_t code);

/// Full case mappings of one character, without context (but see lower_at).
std::string upper_of(char32_t code);
std::string lower_of(char32_t code);
std::string title_of(char32_t code);
std::string fold_of(char32_t code);

/// The lower case of the character at byte `at` of `text`: a capital sigma at the end of a word becomes the final sigma.
std::string lower_at(std::string_view text, size_t at);

/// Appends `prefix` and the last `digits` hexadecimal digits of a character's number.
void append_escape(std::string& out, std::string_view prefix, char32_t code, int digits);

/// The value of a decimal digit of any script, or -1.
int decimal_value(char32_t code);

/// The character called `name` in Unicode, or 0.
char32_t character_named(const std::string& name);

/// The character at byte `at`, and its length; U+FFFD and 1 where the bytes are no UTF-8.
struct Character {
  char32_t code;
  size_t length;
};
Character character_at(std::string_view text, size_t at);

}  // namespace lagoon::jinja
