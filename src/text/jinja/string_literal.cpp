#include "text/jinja/string_literal.h"

#include "base/utf8.h"
#include "text/jinja/unicode.h"

#include <fmt/format.h>

#include <optional>

namespace lagoon::jinja {
namespace {

int digit_of(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return 99;
}

bool is_surrogate(char32_t code, char32_t first) { return code >= first && code < first + 0x400; }

class Unescaper {
 public:
  Unescaper(std::string_view literal, std::string& error) : literal_(literal), error_(error) {}

  std::string run() {
    while (at_ < literal_.size() && error_.empty()) {
      if (literal_[at_] != '\\') {
        out_ += literal_[at_++];
      } else {
        ++at_;
        escape();
      }
    }
    return std::move(out_);
  }

 private:
  void escape();
  void simple(char byte);
  void octal();
  void hexadecimal(size_t count, const char* name);
  void named();
  std::optional<char32_t> digits(size_t count);
  void append(char32_t code);

  std::string_view literal_;
  std::string& error_;
  std::string out_;
  size_t at_ = 0;
};

void Unescaper::escape() {
  if (at_ >= literal_.size()) {
    error_ = "\\ at end of string";
    return;
  }
  const char byte = literal_[at_];
  if (byte >= '0' && byte <= '7') return octal();
  if (static_cast<unsigned char>(byte) >= 0x80) {
    // Python turns the character into an escape first, so that the two backslashes meet.
    const Character character = character_at(literal_, at_);
    const auto code = static_cast<uint32_t>(character.code);
    out_ += code < 0x100 ? fmt::format("\\x{:02x}", code) : code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
    at_ += character.length;
    return;
  }
  ++at_;
  switch (byte) {
    case 'x':
      return hexadecimal(2, "\\xXX");
    case 'u':
      return hexadecimal(4, "\\uXXXX");
    case 'U':
      return hexadecimal(8, "\\UXXXXXXXX");
    case 'N':
      return named();
    default:
      return simple(byte);
  }
}

void Unescaper::simple(char byte) {
  constexpr std::string_view escaped = "\\'\"abfnrtv";
  constexpr std::string_view meaning = "\\'\"\a\b\f\n\r\t\v";
  if (byte == '\n') return;  // a line that goes on
  const size_t at = escaped.find(byte);
  if (at == std::string_view::npos) out_ += '\\';
  out_ += at == std::string_view::npos ? byte : meaning[at];
}

void Unescaper::octal() {
  char32_t code = 0;
  for (int count = 0; count < 3 && at_ < literal_.size() && digit_of(literal_[at_]) < 8; ++count) {
    code = code * 8 + static_cast<char32_t>(digit_of(literal_[at_++]));
  }
  append(code);
}

std::optional<char32_t> Unescaper::digits(size_t count) {
  char32_t code = 0;
  if (literal_.size() - at_ < count) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    const int digit = digit_of(literal_[at_ + i]);
    if (digit > 15) return std::nullopt;
    code = code * 16 + static_cast<char32_t>(digit);
  }
  at_ += count;
  return code;
}

void Unescaper::hexadecimal(size_t count, const char* name) {
  const auto code = digits(count);
  if (!code) {
    error_ = fmt::format("truncated {} escape", name);
  } else if (*code > 0x10ffff) {
    error_ = "illegal Unicode character";
  } else {
    append(*code);
  }
}

/// Halves of a surrogate pair join; a lone one, which no UTF-8 text can hold, becomes U+FFFD.
void Unescaper::append(char32_t code) {
  if (is_surrogate(code, 0xd800) && literal_.substr(at_, 2) == "\\u") {
    const size_t before = at_;
    at_ += 2;
    const auto low = digits(4);
    if (low && is_surrogate(*low, 0xdc00)) return append_utf8(out_, 0x10000 + ((code - 0xd800) << 10) + (*low - 0xdc00));
    at_ = before;
  }
  append_utf8(out_, is_surrogate(code, 0xd800) || is_surrogate(code, 0xdc00) ? 0xfffd : code);
}

void Unescaper::named() {
  const size_t close = literal_.find('}', at_);
  if (literal_.substr(at_, 1) != "{" || close == std::string_view::npos) {
    error_ = "malformed \\N character escape";
    return;
  }
  const char32_t code = character_named(std::string(literal_.substr(at_ + 1, close - at_ - 1)));
  if (code == 0) error_ = "unknown Unicode character name";
  append_utf8(out_, code);
  at_ = close + 1;
}

}  // namespace

std::string unescape_literal(std::string_view literal, std::string& error) { return Unescaper(literal, error).run(); }

}  // namespace lagoon::jinja
