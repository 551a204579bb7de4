#include "text/tokenizer/regex_syntax.h"

#include "base/error.h"
#include "base/utf8.h"
#include "text/tokenizer/regex_class.h"

#include <optional>
#include <utility>
#include <vector>

namespace lagoon {
namespace {

using regex_syntax::CharacterSet;
using regex_syntax::complement;
using regex_syntax::literal;

constexpr int depth_limit = 100;  // groups and classes inside one another

class Translator {
 public:
  Translator(std::string_view pattern, std::string_view where) : pattern_(pattern), where_(where) {}

  std::string run() {
    std::string out = alternatives();
    if (!ended()) refuse("a `)` that closes nothing");
    return out;
  }

 private:
  // An element of a class: one character, or a set.
  struct Element {
    std::optional<char32_t> code;
    CharacterSet set;
  };

  bool ended() const { return at_ >= pattern_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0'; }
  bool starts(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  bool take(std::string_view text) {
    if (!starts(text)) return false;
    at_ += text.size();
    return true;
  }
  char32_t take_code() {
    if (ended()) fail(ErrorKind::corrupt, "{}: the pattern `{}` ends in the middle of an expression", where_, printable(pattern_));
    const size_t length = valid_utf8_length(pattern_.substr(at_));
    require(length > 0, "a pattern is valid UTF-8");
    const char32_t code = decode_utf8(pattern_.substr(at_), length);
    at_ += length;
    return code;
  }
  [[noreturn]] void refuse(std::string_view what) const {
    fail(ErrorKind::unsupported, "{}: the pattern `{}` has {} at byte {}, which Lagoon does not match", where_, printable(pattern_), what, at_);
  }
  void deepen() {
    if (++depth_ > depth_limit) refuse("groups nested too deeply");
  }

  std::string alternatives();
  std::string sequence();
  std::string atom();
  std::string group();
  std::string options();
  std::string escape();
  std::string quantified(std::string atom);
  std::string interval();
  void skip_comment(std::string& out);

  CharacterSet character_class();
  CharacterSet union_of_elements();
  Element element();
  Element escaped_element();
  std::optional<Element> posix_bracket();
  CharacterSet property(bool negated, bool in_class);
  char32_t hexadecimal(size_t digits);
  char32_t escaped_code(char letter);

  std::string_view pattern_;
  std::string_view where_;
  size_t at_ = 0;
  int depth_ = 0;
  bool extended_ = false;  // (?x): blanks and comments do not count
};

std::string Translator::alternatives() {
  deepen();
  const bool extended = extended_;
  std::string out = sequence();
  while (take("|")) out += "|" + sequence();
  extended_ = extended;
  --depth_;
  return out;
}

std::string Translator::sequence() {
  std::string out;
  while (!ended() && peek() != '|' && peek() != ')') {
    if (extended_ && (peek() == '#' || peek() == ' ' || (peek() >= '\t' && peek() <= '\r'))) {
      skip_comment(out);
      continue;
    }
    if (starts("(?#")) {
      const size_t end = pattern_.find(')', at_);
      if (end == std::string_view::npos) refuse("a comment without an end");
      at_ = end + 1;
      continue;
    }
    out += quantified(atom());
  }
  return out;
}

void Translator::skip_comment(std::string&) {
  if (peek() != '#') {
    ++at_;
    return;
  }
  while (!ended() && peek() != '\n') ++at_;
}

std::string Translator::atom() {
  const char next = peek();
  if (next == '(') return group();
  if (next == '[') {
    ++at_;
    return character_class().whole;
  }
  if (next == '\\') return escape();
  if (next == '.' || next == '^' || next == '$') {
    ++at_;
    return std::string(1, next);
  }
  if (next == '*' || next == '+' || next == '?') refuse("a quantifier with nothing to repeat");
  return literal(take_code());
}

std::string Translator::group() {
  if (starts("(*")) refuse("a `(*`");
  ++at_;
  std::string open = "(";
  if (peek() == '?') {
    const char kind = peek(1);
    if (starts("?<=") || starts("?<!")) {
      open += pattern_.substr(at_, 3);
      at_ += 3;
    } else if (kind == '<' || kind == '\'') {
      const size_t end = pattern_.find(kind == '<' ? '>' : '\'', at_ + 2);
      if (end == std::string_view::npos) refuse("a group name without an end");
      open += pattern_.substr(at_, end + 1 - at_);
      at_ = end + 1;
    } else if (kind == ':' || kind == '=' || kind == '!' || kind == '>') {
      open += pattern_.substr(at_, 2);
      at_ += 2;
    } else {
      return options();
    }
  }
  std::string out = open + alternatives();
  if (!take(")")) refuse("a group without an end");
  return out + ")";
}

/// (?imx-imx:...) and (?imx-imx), which covers the rest of the group that it stands in. Stands behind the parenthesis.
std::string Translator::options() {
  ++at_;  // the question mark
  const bool extended = extended_;
  std::string letters = "?";
  bool on = true;
  while (peek() != ':' && peek() != ')') {
    const char option = peek();
    if (option == '-') {
      on = false;
    } else if (option == 'x') {
      extended_ = on;
    } else if (option != 'i' && option != 'm') {
      refuse("an option other than i, m and x");
    }
    if (option == 'm') letters += 's';
    if (option == 'i' || option == '-') letters += option;
    ++at_;
  }
  const bool scoped = peek() == ':';
  ++at_;
  std::string out = "(" + letters + ":" + alternatives() + ")";
  if (scoped) {
    extended_ = extended;
    if (!take(")")) refuse("a group without an end");
  }
  return out;
}

std::string Translator::quantified(std::string atom) {
  for (bool first = true;; first = false) {
    std::string quantifier;
    bool fixed = false;
    const char next = peek();
    const bool is_interval = next == '{';
    if (next == '*' || next == '+' || next == '?') {
      quantifier = next;
      ++at_;
    } else if (is_interval) {
      quantifier = interval();
      fixed = quantifier.find(',') == std::string::npos;
    }
    if (quantifier.empty()) return atom;
    if (!first) atom.insert(0, "(?:").append(")");
    atom += quantifier;
    if (!fixed && take("?")) {
      atom += "?";
    } else if (!is_interval && take("+")) {
      atom += "+";
    }
  }
}

/// {n}, {n,}, {,m} or {n,m}; empty, with the position unchanged, if the brace begins none of them and is a literal.
std::string Translator::interval() {
  const size_t start = at_;
  const auto digits = [this] {
    std::string out;
    while (peek() >= '0' && peek() <= '9') out += pattern_[at_++];
    return out;
  };
  ++at_;
  std::string low = digits();
  const bool comma = take(",");
  const std::string high = comma ? digits() : "";
  if (!take("}") || (low.empty() && high.empty())) {
    at_ = start;
    return "";
  }
  if (low.empty()) low = "0";
  return "{" + low + (comma ? "," + high : "") + "}";
}

std::string Translator::escape() {
  ++at_;
  if (ended()) fail(ErrorKind::corrupt, "{}: the pattern `{}` ends in the middle of an expression", where_, printable(pattern_));
  const char letter = peek();
  if (const auto set = regex_syntax::set_of_shorthand(letter, false)) {
    ++at_;
    return set->body.size() == 2 ? set->body : set->whole;
  }
  const std::string word = regex_syntax::set_of_shorthand('w', false)->whole;
  switch (letter) {
    case 'b':
      ++at_;
      return "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))";
    case 'B':
      ++at_;
      return "(?:(?<=" + word + ")(?=" + word + ")|(?<!" + word + ")(?!" + word + "))";
    case 'O':
      ++at_;
      return "(?s:.)";
    case 'A':
    case 'z':
    case 'Z':
    case 'G':
    case 'K':
    case 'R':
    case 'X':
    case 'N':
      ++at_;
      return std::string{'\\', letter};
    case 'k':
    case 'g': {
      const size_t end = pattern_.find('>', at_);
      if (peek(1) != '<' || end == std::string_view::npos) refuse("a reference without a name");
      std::string out = "\\" + std::string(pattern_.substr(at_, end + 1 - at_));
      at_ = end + 1;
      return out;
    }
    case 'p':
    case 'P':
      ++at_;
      return property(letter == 'P', false).whole;
    default:
      break;
  }
  if (letter >= '1' && letter <= '9') {
    std::string number;
    while (peek() >= '0' && peek() <= '9') number += pattern_[at_++];
    return "\\g{" + number + "}";
  }
  return literal(escaped_code(letter));
}

/// The name in braces behind \p or \P.
CharacterSet Translator::property(bool negated, bool in_class) {
  if (!take("{")) refuse("a property without a name in braces");
  if (take("^")) negated = !negated;
  const size_t end = pattern_.find('}', at_);
  if (end == std::string_view::npos || end == at_) refuse("a property without an end");
  const std::string_view name = pattern_.substr(at_, end - at_);
  for (const char character : name) {
    const bool plain = (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
                       character == '_' || character == '-' || character == ' ';
    if (!plain) refuse("a property with an unusual name");
  }
  at_ = end + 1;
  return regex_syntax::set_of_property(name, negated, in_class);
}

char32_t Translator::hexadecimal(size_t digits) {
  char32_t code = 0;
  size_t count = 0;
  for (; count < digits; ++count) {
    const char next = peek();
    if (next >= '0' && next <= '9') {
      code = code * 16 + static_cast<char32_t>(next - '0');
    } else if ((next | 0x20) >= 'a' && (next | 0x20) <= 'f') {
      code = code * 16 + static_cast<char32_t>((next | 0x20) - 'a' + 10);
    } else {
      break;
    }
    ++at_;
  }
  if (count == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) refuse("a code that is no character");
  return code;
}

/// A character escape; stands at the letter behind the backslash.
char32_t Translator::escaped_code(char letter) {
  constexpr std::string_view letters = "tnrfvae";
  constexpr std::string_view codes = "\t\n\r\f\v\a\x1b";
  if (const size_t index = letters.find(letter); index != std::string_view::npos) {
    ++at_;
    return static_cast<char32_t>(codes[index]);
  }
  if (letter == 'C' || letter == 'M' || letter == 'c' || letter == 'y' || letter == 'Y') refuse("an unusual escape");
  if (letter == '0') {
    char32_t code = 0;
    for (size_t count = 0; count < 3 && peek() >= '0' && peek() <= '7'; ++count) code = code * 8 + static_cast<char32_t>(pattern_[at_++] - '0');
    return code;
  }
  if (letter == 'u') {
    ++at_;
    return hexadecimal(4);
  }
  if (letter == 'x') {
    ++at_;
    if (take("{")) {
      const char32_t code = hexadecimal(8);
      if (!take("}")) refuse("a code without an end");
      return code;
    }
    const char32_t code = hexadecimal(2);
    if (code > 0x7f) refuse("a single byte of a character");
    return code;
  }
  return take_code();
}

/// Stands behind the opening bracket.
CharacterSet Translator::character_class() {
  deepen();
  const bool negated = take("^");
  std::vector<CharacterSet> operands;
  do operands.push_back(union_of_elements());
  while (take("&&"));
  if (!take("]")) fail(ErrorKind::corrupt, "{}: the pattern `{}` has a class without an end", where_, printable(pattern_));
  --depth_;
  CharacterSet set = operands.front();
  if (operands.size() > 1) {
    std::string conditions;
    for (size_t i = 1; i < operands.size(); ++i) conditions += "(?=" + operands[i].whole + ")";
    set = {"", "(?:" + conditions + operands.front().whole + ")"};
  }
  return negated ? complement(set) : set;
}

CharacterSet Translator::union_of_elements() {
  std::string body;
  std::string wholes;
  const auto add = [&](const Element& one) {
    if (one.code) {
      body += literal(*one.code);
    } else if (!one.set.body.empty()) {
      body += one.set.body;
    } else {
      wholes += "|" + one.set.whole;
    }
  };
  for (bool first = true; !ended() && !starts("&&"); first = false) {
    if (peek() == ']' && !(first && pattern_.find(']', at_ + 1) != std::string_view::npos)) break;
    const Element low = element();
    if (low.code && peek() == '-' && peek(1) != ']' && at_ + 1 < pattern_.size()) {
      ++at_;
      const Element high = element();
      if (high.code) {
        if (*high.code < *low.code) refuse("a range that runs backwards");
        body += literal(*low.code) + "-" + literal(*high.code);
        continue;
      }
      add(low);
      body += literal('-');
      add(high);
      continue;
    }
    add(low);
  }
  if (body.empty() && wholes.empty()) refuse("an empty class");
  if (wholes.empty()) return regex_syntax::set_of_body(body);
  if (body.empty()) return {"", "(?:" + wholes.substr(1) + ")"};
  return {"", "(?:[" + body + "]" + wholes + ")"};
}

Translator::Element Translator::element() {
  if (peek() == '\\') return escaped_element();
  if (peek() == '[') {
    if (auto posix = posix_bracket()) return *posix;
    ++at_;
    return {std::nullopt, character_class()};
  }
  return {take_code(), {}};
}

std::optional<Translator::Element> Translator::posix_bracket() {
  if (!starts("[:")) return std::nullopt;
  const size_t end = pattern_.find(":]", at_ + 2);
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
  const bool negated = name.starts_with('^');
  if (negated) name.remove_prefix(1);
  const auto set = regex_syntax::set_of_posix(name);
  if (!set) return std::nullopt;
  at_ = end + 2;
  return Element{std::nullopt, negated ? complement(*set) : *set};
}

Translator::Element Translator::escaped_element() {
  ++at_;
  if (ended()) fail(ErrorKind::corrupt, "{}: the pattern `{}` ends in the middle of an expression", where_, printable(pattern_));
  const char letter = peek();
  if (const auto set = regex_syntax::set_of_shorthand(letter, true)) {
    ++at_;
    return {std::nullopt, *set};
  }
  if (letter == 'p' || letter == 'P') {
    ++at_;
    return {std::nullopt, property(letter == 'P', true)};
  }
  if (letter == 'b') {
    ++at_;
    return {char32_t{8}, {}};
  }
  if (letter == 'R' || letter == 'X' || letter == 'N' || letter == 'O') refuse("an escape that does not belong in a class");
  return {escaped_code(letter), {}};
}

}  // namespace

std::string translate_oniguruma(std::string_view pattern, std::string_view where) { return Translator(pattern, where).run(); }

}  // namespace lagoon
