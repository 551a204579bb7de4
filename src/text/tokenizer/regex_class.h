// regex_class.h: character classes and properties of Oniguruma, written as PCRE2 that matches exactly one character.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lagoon::regex_syntax {

/// A set of characters. `body` fits between the brackets of a class; a set that has no such body is only a `whole`.
struct CharacterSet {
  std::string body;   // such as \p{L}\p{N}; empty if the set can only be written as a whole
  std::string whole;  // a PCRE2 expression for one character
};

CharacterSet set_of_body(std::string body);
CharacterSet complement(const CharacterSet& set);

/// \w, \W, \d, \D, \s, \S, \h, \H by their letter. \w holds six characters more outside of a class than inside.
std::optional<CharacterSet> set_of_shorthand(char letter, bool in_class);

/// The set of \p{name}: general category, script, binary property or POSIX name; spaces, `_`, `-` and case do not count.
CharacterSet set_of_property(std::string_view name, bool negated, bool in_class);

/// The set of [[:name:]], if there is such a name.
std::optional<CharacterSet> set_of_posix(std::string_view name);

/// A character outside and inside of classes, escaped where it could mean something else.
std::string literal(char32_t code);

}  // namespace lagoon::regex_syntax
