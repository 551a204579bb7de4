// lexer.h: a template's source cut into tokens, as Jinja2 does with trim_blocks and lstrip_blocks on.
// Line ends are LF before anything else, and one LF at the end of the source is dropped. `{%-` and `-%}` take all white
// space beside them; a block tag or comment alone on its line takes the space before it and the line end behind it, unless
// it says `{%+` or `+%}`.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon::jinja {

enum class TokenType {
  data,
  variable_begin,
  variable_end,
  block_begin,
  block_end,
  name,
  text,
  integer,
  real,
  add,
  sub,
  mul,
  div,
  floordiv,
  mod,
  pow,
  tilde,
  left_bracket,
  right_bracket,
  left_paren,
  right_paren,
  left_brace,
  right_brace,
  equal,
  not_equal,
  greater,
  greater_equal,
  less,
  less_equal,
  assign,
  dot,
  colon,
  pipe,
  comma,
  semicolon,
  end_of_file,
};

struct Token {
  TokenType type;
  std::string text;  // a name, the value of a string, the bytes of data; otherwise empty
  mpz_class integer;
  double real = 0;
  uint32_t offset = 0;  // byte of the normalised source
};

/// CR LF and CR as LF, and without one LF at the end.
std::string normalize_source(std::string_view source);

/// The tokens of a normalised source, an end_of_file last.
/// @throws Raised (TemplateSyntaxError) with `place` set; its template_name is left empty
std::vector<Token> tokenize(std::string_view source);

/// How messages call a token: its name, or what its type stands for.
std::string describe(const Token& token);
std::string describe(TokenType type);

}  // namespace lagoon::jinja
