#include "text/jinja/lexer.h"

#include "text/jinja/python_repr.h"
#include "text/jinja/string_literal.h"
#include "text/jinja/template_error.h"
#include "text/jinja/unicode.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace lagoon::jinja {
namespace {

struct OperatorRow {
  std::string_view spelling;
  TokenType type;
};

// Longest first, so that `**` is not read as two `*`.
constexpr std::array<OperatorRow, 26> operators = {{
    {"//", TokenType::floordiv},
    {"**", TokenType::pow},
    {"==", TokenType::equal},
    {"!=", TokenType::not_equal},
    {">=", TokenType::greater_equal},
    {"<=", TokenType::less_equal},
    {"+", TokenType::add},
    {"-", TokenType::sub},
    {"/", TokenType::div},
    {"*", TokenType::mul},
    {"%", TokenType::mod},
    {"~", TokenType::tilde},
    {"[", TokenType::left_bracket},
    {"]", TokenType::right_bracket},
    {"(", TokenType::left_paren},
    {")", TokenType::right_paren},
    {"{", TokenType::left_brace},
    {"}", TokenType::right_brace},
    {">", TokenType::greater},
    {"<", TokenType::less},
    {"=", TokenType::assign},
    {".", TokenType::dot},
    {":", TokenType::colon},
    {"|", TokenType::pipe},
    {",", TokenType::comma},
    {";", TokenType::semicolon},
}};

bool is_digit_byte(char byte) { return byte >= '0' && byte <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}
  std::vector<Token> run();

 private:
  [[noreturn]] void fail(size_t at, const std::string& message) const { throw Raised{"TemplateSyntaxError", message, place_of("", source_, at)}; }
  bool starts(size_t at, std::string_view text) const { return source_.substr(at, text.size()) == text; }
  char byte(size_t at) const { return at < source_.size() ? source_[at] : '\0'; }
  size_t skip_space(size_t at) const;
  Token& add(TokenType type, size_t at);
  void advance(size_t end) {
    line_starting_ = end > at_ ? source_[end - 1] == '\n' : line_starting_;
    at_ = end;
  }

  std::optional<size_t> raw_tag_end(size_t at, std::string_view keyword) const;
  std::optional<size_t> tag_close(size_t at, std::string_view close, bool plus) const;
  size_t opening(size_t from) const;
  void data_before(size_t tag, char sign, bool variable);
  void comment(size_t begin);
  void raw_block();
  void tag(TokenType end_type);
  void tag_token();
  void number();
  size_t digits(size_t at, const char* allowed) const;
  std::optional<size_t> real_end() const;
  void string();
  void operator_token();

  std::string_view source_;
  size_t at_ = 0;
  bool line_starting_ = true;
  std::string open_brackets_;
  std::vector<Token> tokens_;
};

size_t Lexer::skip_space(size_t at) const {
  while (at < source_.size()) {
    const Character character = character_at(source_, at);
    if (!is_space(character.code)) break;
    at += character.length;
  }
  return at;
}

Token& Lexer::add(TokenType type, size_t at) {
  Token token;
  token.type = type;
  token.offset = static_cast<uint32_t>(at);
  tokens_.push_back(std::move(token));
  return tokens_.back();
}

/// The first byte at or after `from` where a tag opens, or npos.
size_t Lexer::opening(size_t from) const {
  for (size_t at = source_.find('{', from); at != std::string_view::npos; at = source_.find('{', at + 1)) {
    const char next = byte(at + 1);
    if (next == '%' || next == '{' || next == '#') return at;
  }
  return std::string_view::npos;
}

/// Where the close of a tag that stands at `at` ends: `-%}` with the space behind it, `+%}`, or `%}` with a line end.
std::optional<size_t> Lexer::tag_close(size_t at, std::string_view close, bool plus) const {
  const bool trims = close != "}}";
  if (byte(at) == '-' && starts(at + 1, close)) return skip_space(at + 1 + close.size());
  if (plus && byte(at) == '+' && starts(at + 1, close)) return at + 1 + close.size();
  if (!starts(at, close)) return std::nullopt;
  const size_t end = at + close.size();
  return trims && byte(end) == '\n' ? end + 1 : end;
}

/// Where the tag `{% keyword %}` that opens at `at` ends. The start of a raw block keeps a line end behind it.
std::optional<size_t> Lexer::raw_tag_end(size_t at, std::string_view keyword) const {
  if (!starts(at, "{%")) return std::nullopt;
  at += 2;
  if (byte(at) == '-' || byte(at) == '+') ++at;
  at = skip_space(at);
  if (!starts(at, keyword)) return std::nullopt;
  at = skip_space(at + keyword.size());
  if (keyword == "endraw") return tag_close(at, "%}", true);
  if (starts(at, "-%}")) return skip_space(at + 3);
  return starts(at, "%}") ? std::optional<size_t>(at + 2) : std::nullopt;
}

/// Emits the data between at_ and a tag, stripped as the tag's sign says.
void Lexer::data_before(size_t tag, char sign, bool variable) {
  std::string_view text = source_.substr(at_, tag - at_);
  if (sign == '-') {
    while (!text.empty()) {
      size_t last = text.size() - 1;
      while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xc0) == 0x80) --last;
      if (!is_space(character_at(text, last).code)) break;
      text = text.substr(0, last);
    }
  } else if (sign != '+' && !variable) {
    const size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
    if ((line > 0 || line_starting_) && line < text.size() && skip_space(at_ + line) >= tag) text = text.substr(0, line);
  }
  if (!text.empty()) add(TokenType::data, at_).text = text;
}

void Lexer::comment(size_t begin) {
  const size_t close = source_.find("#}", at_);
  if (close == std::string_view::npos) {
    if (at_ < source_.size()) fail(begin, "Missing end of comment tag");
    return;
  }
  const bool sign_before = close > at_ && (source_[close - 1] == '-' || source_[close - 1] == '+');
  advance(*tag_close(sign_before ? close - 1 : close, "#}", true));
}

void Lexer::raw_block() {
  for (size_t tag = source_.find("{%", at_); tag != std::string_view::npos; tag = source_.find("{%", tag + 1)) {
    const std::optional<size_t> end = raw_tag_end(tag, "endraw");
    if (!end) continue;
    data_before(tag, byte(tag + 2), false);
    return advance(*end);
  }
  if (at_ < source_.size()) fail(at_, "Missing end of raw directive");
}

std::vector<Token> Lexer::run() {
  while (at_ < source_.size()) {
    const size_t tag_begin = opening(at_);
    if (tag_begin == std::string_view::npos) {
      add(TokenType::data, at_).text = source_.substr(at_);
      break;
    }
    const char kind = source_[tag_begin + 1];
    const char sign = byte(tag_begin + 2);
    const bool signed_tag = sign == '-' || sign == '+';
    data_before(tag_begin, sign, kind == '{');
    if (const auto raw_end = raw_tag_end(tag_begin, "raw")) {
      advance(*raw_end);
      raw_block();
      continue;
    }
    advance(tag_begin + (signed_tag ? 3 : 2));
    if (kind == '#') {
      comment(tag_begin);
    } else {
      add(kind == '{' ? TokenType::variable_begin : TokenType::block_begin, tag_begin);
      tag(kind == '{' ? TokenType::variable_end : TokenType::block_end);
    }
  }
  add(TokenType::end_of_file, source_.size());
  return std::move(tokens_);
}

void Lexer::tag(TokenType end_type) {
  const std::string_view close = end_type == TokenType::variable_end ? "}}" : "%}";
  open_brackets_.clear();
  while (at_ < source_.size()) {
    if (open_brackets_.empty()) {
      if (const auto end = tag_close(at_, close, end_type == TokenType::block_end)) {
        add(end_type, at_);
        return advance(*end);
      }
    }
    tag_token();
  }
}

void Lexer::tag_token() {
  const Character character = character_at(source_, at_);
  if (is_space(character.code)) return advance(skip_space(at_));
  if (is_digit_byte(source_[at_])) {
    number();
  } else if (is_identifier_part(character.code)) {
    size_t end = at_;
    while (end < source_.size() && is_identifier_part(character_at(source_, end).code)) end += character_at(source_, end).length;
    add(TokenType::name, at_).text = source_.substr(at_, end - at_);
    advance(end);
  } else if (source_[at_] == '\'' || source_[at_] == '"') {
    string();
  } else {
    operator_token();
  }
}

/// The end of (allowed | '_' allowed)* from `at`.
size_t Lexer::digits(size_t at, const char* allowed) const {
  const std::string_view set(allowed);
  const auto is_allowed = [&](size_t where) { return where < source_.size() && set.find(source_[where]) != std::string_view::npos; };
  while (is_allowed(at) || (byte(at) == '_' && is_allowed(at + 1))) ++at;
  return at;
}

/// The end of a number with a fraction or an exponent that begins here. `l.0.1` holds none.
std::optional<size_t> Lexer::real_end() const {
  constexpr const char* decimal = "0123456789";
  if (at_ > 0 && source_[at_ - 1] == '.') return std::nullopt;
  size_t end = digits(at_, decimal);
  bool real = false;
  if (byte(end) == '.' && is_digit_byte(byte(end + 1))) {
    end = digits(end + 1, decimal);
    real = true;
  }
  if (byte(end) == 'e' || byte(end) == 'E') {
    const size_t first = end + (byte(end + 1) == '+' || byte(end + 1) == '-' ? 2 : 1);
    if (is_digit_byte(byte(first))) return digits(first, decimal);
  }
  return real ? std::optional<size_t>(end) : std::nullopt;
}

void Lexer::number() {
  const auto without_underscores = [](std::string_view text) {
    std::string out;
    for (const char digit : text) {
      if (digit != '_') out += digit;
    }
    return out;
  };
  if (const auto end = real_end()) {
    const std::string text = without_underscores(source_.substr(at_, *end - at_));
    add(TokenType::real, at_).real = std::strtod(text.c_str(), nullptr);
    return advance(*end);
  }
  const char marker = byte(at_ + 1);
  int base = 10;
  const char* allowed = source_[at_] == '0' ? "0" : "0123456789";
  if (source_[at_] == '0') {
    if (marker == 'b' || marker == 'B') base = 2, allowed = "01";
    if (marker == 'o' || marker == 'O') base = 8, allowed = "01234567";
    if (marker == 'x' || marker == 'X') base = 16, allowed = "0123456789abcdefABCDEF";
  }
  size_t first = base == 10 ? at_ : at_ + 2;
  size_t end = digits(first, allowed);
  if (end == first) base = 10, first = at_, end = at_ + 1;  // `0x` without digits: a zero, then a name
  const std::string text = without_underscores(source_.substr(first, end - first));
  if (text.size() > 4300) fail(at_, "Exceeds the limit (4300 digits) for integer string conversion");
  add(TokenType::integer, at_).integer = mpz_class(text, base);
  advance(end);
}

void Lexer::string() {
  const char quote = source_[at_];
  size_t end = at_ + 1;
  while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
  if (end >= source_.size()) return operator_token();  // never closed: refused as a character that begins nothing
  std::string error;
  std::string value = unescape_literal(source_.substr(at_ + 1, end - at_ - 1), error);
  if (!error.empty()) fail(at_, error);
  add(TokenType::text, at_).text = std::move(value);
  advance(end + 1);
}

void Lexer::operator_token() {
  for (const auto& [spelling, type] : operators) {
    if (!starts(at_, spelling)) continue;
    const char first = spelling[0];
    if (first == '(' || first == '[' || first == '{') open_brackets_ += first == '(' ? ')' : first == '[' ? ']' : '}';
    if (first == ')' || first == ']' || first == '}') {
      if (open_brackets_.empty()) fail(at_, fmt::format("unexpected '{}'", first));
      const char expected = open_brackets_.back();
      open_brackets_.pop_back();
      if (expected != first) fail(at_, fmt::format("unexpected '{}', expected '{}'", first, expected));
    }
    add(type, at_);
    return advance(at_ + spelling.size());
  }
  const size_t length = character_at(source_, at_).length;
  const Place place = place_of("", source_, at_);
  fail(at_, fmt::format("unexpected char {} at {}", repr_of_text(source_.substr(at_, length)), place.line == 1 ? place.column - 1 : at_));
}

}  // namespace

std::string normalize_source(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t at = 0; at < source.size(); ++at) {
    if (source[at] == '\r') {
      out += '\n';
      if (at + 1 < source.size() && source[at + 1] == '\n') ++at;
    } else {
      out += source[at];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

std::string describe(TokenType type) {
  switch (type) {
    case TokenType::data:
      return "template data / text";
    case TokenType::variable_begin:
      return "begin of print statement";
    case TokenType::variable_end:
      return "end of print statement";
    case TokenType::block_begin:
      return "begin of statement block";
    case TokenType::block_end:
      return "end of statement block";
    case TokenType::name:
      return "name";
    case TokenType::text:
      return "string";
    case TokenType::integer:
      return "integer";
    case TokenType::real:
      return "float";
    case TokenType::end_of_file:
      return "end of template";
    default:
      break;
  }
  for (const auto& [spelling, operator_type] : operators) {
    if (operator_type == type) return std::string(spelling);
  }
  return "token";
}

std::string describe(const Token& token) { return token.type == TokenType::name ? token.text : describe(token.type); }

}  // namespace lagoon::jinja
