// regex_syntax.h: patterns of tokenizer.json are written for Oniguruma (Ruby syntax, Unicode); Lagoon matches with PCRE2.
// The translation keeps the meaning where the two differ:
//   Oniguruma                          PCRE2
//   \w \b [[:alpha:]] ...              sets of Unicode properties: Alphabetic, M, Nd, Pc (PCRE2's own \w has no marks)
//   \h  \v  \uHHHH  \O                 hexadecimal digit, U+000B, \x{HHHH}, any character
//   (?m)                               (?s); ^ and $ always match at lines, which is PCRE2_MULTILINE
//   (?i) inside a group                covers the rest of the group, alternatives included
//   X{n,m}+  X{n}?  X{,m}  X**         (?:X{n,m})+  (?:X{n})?  X{0,m}  (?:X*)*
//   [a[bc]]  [a&&[^b]]  [^\W_]         alternatives and lookaheads that match one character
//   \p{Han} \p{Letter} \p{Alnum}       \p{sc:Han} (the script, not its extensions), \p{L}, [\p{Alphabetic}\p{Nd}]
// Case-insensitive matching of one character with several (`ss` and U+00DF) is not carried over.
// Source: kkos/oniguruma, doc/RE and doc/SYNTAX.md. Proof: tests/unit/text/tokenizer/regex_test.cpp, tests/golden/tokenizer/components.jsonl.
#pragma once

#include <string>
#include <string_view>

namespace lagoon {

/// @param where  names the key of the file, which begins the sentence of an error
/// @throws Error(unsupported) for syntax that has no counterpart, Error(corrupt) for a pattern that ends too early
std::string translate_oniguruma(std::string_view pattern, std::string_view where);

}  // namespace lagoon
