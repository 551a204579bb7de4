#include "text/jinja/unicode.h"

#include "base/utf8.h"

#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/ustring.h>

#include <array>

namespace lagoon::jinja {
namespace {

constexpr char32_t capital_sigma = 0x3a3;

UChar32 icu(char32_t code) { return static_cast<UChar32>(code); }

bool known(char32_t code) {
  UVersionInfo age = {};
  u_charAge(icu(code), age);
  return age[0] > 0 && age[0] <= 14;
}

bool in_category(char32_t code, uint32_t mask) { return known(code) && (U_GET_GC_MASK(icu(code)) & mask) != 0; }

template <typename Map>
std::string mapped(char32_t code, Map map) {
  std::string out;
  if (code < 0x80 || known(code)) {
    std::array<UChar, 2> source = {};
    int32_t source_length = 0;
    UErrorCode status = U_ZERO_ERROR;
    u_strFromUTF32(source.data(), 2, &source_length, reinterpret_cast<const UChar32*>(&code), 1, &status);
    std::array<UChar, 8> result = {};
    const int32_t length = map(result.data(), 8, source.data(), source_length, &status);
    if (U_SUCCESS(status)) {
      icu::UnicodeString(result.data(), length).toUTF8String(out);
      return out;
    }
  }
  append_utf8(out, code);
  return out;
}

bool case_ignorable(char32_t code) { return u_hasBinaryProperty(icu(code), UCHAR_CASE_IGNORABLE) != 0; }
bool cased_property(char32_t code) { return u_hasBinaryProperty(icu(code), UCHAR_CASED) != 0; }

bool cased_before(std::string_view text, size_t at) {
  while (at > 0) {
    do --at;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
    const char32_t code = character_at(text, at).code;
    if (!case_ignorable(code)) return cased_property(code);
  }
  return false;
}

bool cased_after(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Character character = character_at(text, at);
    if (!case_ignorable(character.code)) return cased_property(character.code);
    at += character.length;
  }
  return false;
}

}  // namespace

bool is_space(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13) || (code >= 0x1c && code <= 0x1f);
  return code == 0x85 || (U_GET_GC_MASK(icu(code)) & U_GC_ZS_MASK) != 0 || code == 0x2028 || code == 0x2029;
}

bool is_line_break(char32_t code) {
  return (code >= 0xa && code <= 0xd) || (code >= 0x1c && code <= 0x1e) || code == 0x85 || code == 0x2028 || code == 0x2029;
}

bool is_alpha(char32_t code) { return in_category(code, U_GC_L_MASK); }
bool is_decimal(char32_t code) { return in_category(code, U_GC_ND_MASK); }

bool is_digit(char32_t code) {
  const int type = u_getIntPropertyValue(icu(code), UCHAR_NUMERIC_TYPE);
  return known(code) && (type == U_NT_DECIMAL || type == U_NT_DIGIT);
}

bool is_numeric(char32_t code) { return known(code) && u_getIntPropertyValue(icu(code), UCHAR_NUMERIC_TYPE) != U_NT_NONE; }
bool is_alnum(char32_t code) { return is_alpha(code) || is_decimal(code) || is_digit(code) || is_numeric(code); }
bool is_lower(char32_t code) { return known(code) && u_isULowercase(icu(code)) != 0; }
bool is_upper(char32_t code) { return known(code) && u_isUUppercase(icu(code)) != 0; }
bool is_cased(char32_t code) { return is_lower(code) || is_upper(code) || in_category(code, U_GC_LT_MASK); }

bool is_printable(char32_t code) {
  if (code == ' ') return true;
  return known(code) && !in_category(code, U_GC_C_MASK | U_GC_Z_MASK);
}

bool is_identifier_part(char32_t code) {
  if (code < 0x80) return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || (code >= '0' && code <= '9') || code == '_';
  return u_hasBinaryProperty(icu(code), UCHAR_XID_CONTINUE) != 0;
}

std::string upper_of(char32_t code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code >= 'a' && code <= 'z' ? code - 'a' + 'A' : code));
  return mapped(code, [](UChar* to, int32_t room, const UChar* from, int32_t length, UErrorCode* status) {
    return u_strToUpper(to, room, from, length, "", status);
  });
}

std::string lower_of(char32_t code) {
  return mapped(code, [](UChar* to, int32_t room, const UChar* from, int32_t length, UErrorCode* status) {
    return u_strToLower(to, room, from, length, "", status);
  });
}

std::string title_of(char32_t code) {
  if (code < 0x80) return upper_of(code);
  return mapped(code, [](UChar* to, int32_t room, const UChar* from, int32_t length, UErrorCode* status) {
    return u_strToTitle(to, room, from, length, nullptr, "", status);
  });
}

std::string fold_of(char32_t code) {
  return mapped(code, [](UChar* to, int32_t room, const UChar* from, int32_t length, UErrorCode* status) {
    return u_strFoldCase(to, room, from, length, U_FOLD_CASE_DEFAULT, status);
  });
}

std::string lower_at(std::string_view text, size_t at) {
  const Character character = character_at(text, at);
  if (character.code < 0x80) {
    const auto byte = static_cast<char>(character.code);
    return std::string(1, byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte);
  }
  if (character.code != capital_sigma) return lower_of(character.code);
  const bool final_sigma = cased_before(text, at) && !cased_after(text, at + character.length);
  return final_sigma ? "\xcf\x82" : "\xcf\x83";
}

void append_escape(std::string& out, std::string_view prefix, char32_t code, int digits) {
  out += prefix;
  for (int digit = digits - 1; digit >= 0; --digit) out += "0123456789abcdef"[(code >> (4 * digit)) & 0xf];
}

int decimal_value(char32_t code) { return is_decimal(code) ? u_charDigitValue(icu(code)) : -1; }

char32_t character_named(const std::string& name) {
  for (const UCharNameChoice choice : {U_UNICODE_CHAR_NAME, U_CHAR_NAME_ALIAS}) {
    UErrorCode status = U_ZERO_ERROR;
    const UChar32 code = u_charFromName(choice, name.c_str(), &status);
    if (U_SUCCESS(status)) return static_cast<char32_t>(code);
  }
  return 0;
}

Character character_at(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {byte, 1};
  const size_t length = valid_utf8_length(text.substr(at));
  if (length == 0) return {0xfffd, 1};
  return {decode_utf8(text.substr(at), length), length};
}

}  // namespace lagoon::jinja
