// unicode_newer.h: characters that Unicode assigned after the tables of PCRE2 10.42 (Unicode 14) and ICU 72 (Unicode 15) were made.
// Patterns see an older character of the same general category and the same length in UTF-8 in their place, so that the
// offsets of a match hold for the text itself. U+180E gets a stand-in too: PCRE2's \s holds it, Oniguruma's does not.
// A pattern that names such a character or its script literally does not match it. With a PCRE2 of newer tables nothing is lost.
// Source: scripts/unicode_newer.py. Proof: tests/conformance/text/tokenizer_test.cpp (cases of kind `newer`).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lagoon {

struct NewerRange {
  char32_t first;
  char32_t last;
  char32_t stand_in;  // of the same length in UTF-8
};

struct NewerLowercase {
  char32_t code;
  char32_t lowercase;
};

std::span<const NewerRange> newer_ranges();         // ascending
std::span<const NewerLowercase> newer_lowercase();  // ascending

/// `code`, or its stand-in.
char32_t known_character(char32_t code);

/// True if `text` holds a character that has a stand-in. @pre valid UTF-8
bool has_newer_character(std::string_view text);

/// `text` with every newer character replaced by its stand-in, byte for byte of the same length. @pre valid UTF-8
std::string with_stand_ins(std::string_view text);

/// The lowercase form of one character by itself, as Unicode's simple mapping has it (U+0130 excepted, which has two).
char32_t simple_lowercase(char32_t code);

}  // namespace lagoon
