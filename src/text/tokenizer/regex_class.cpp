#include "text/tokenizer/regex_class.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace lagoon::regex_syntax {
namespace {

using Row = std::pair<std::string_view, std::string_view>;

constexpr std::string_view word = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
/// Outside of classes Oniguruma looks U+0000 to U+00FF up in a table of Latin-1, which calls these six word characters.
constexpr std::string_view latin_word = R"(\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";
constexpr std::string_view hexadecimal = "0-9A-Fa-f";

/// POSIX names, which Oniguruma also takes as properties. graph and print exclude and are written out below.
constexpr std::array<Row, 12> posix = {{{"alnum", R"(\p{Alphabetic}\p{Nd})"},
                                        {"alpha", R"(\p{Alphabetic})"},
                                        {"ascii", R"(\x{00}-\x{7f})"},
                                        {"blank", R"(\t\p{Zs})"},
                                        {"cntrl", R"(\p{Cc})"},
                                        {"digit", R"(\p{Nd})"},
                                        {"lower", R"(\p{Lowercase})"},
                                        {"punct", R"(\p{P}\p{S})"},
                                        {"space", R"(\s)"},
                                        {"upper", R"(\p{Uppercase})"},
                                        {"word", word},
                                        {"xdigit", hexadecimal}}};

constexpr std::array<Row, 38> categories = {{{"letter", "L"},
                                             {"casedletter", "L&"},
                                             {"lc", "L&"},
                                             {"uppercaseletter", "Lu"},
                                             {"lowercaseletter", "Ll"},
                                             {"titlecaseletter", "Lt"},
                                             {"modifierletter", "Lm"},
                                             {"otherletter", "Lo"},
                                             {"mark", "M"},
                                             {"combiningmark", "M"},
                                             {"nonspacingmark", "Mn"},
                                             {"spacingmark", "Mc"},
                                             {"enclosingmark", "Me"},
                                             {"number", "N"},
                                             {"decimalnumber", "Nd"},
                                             {"letternumber", "Nl"},
                                             {"othernumber", "No"},
                                             {"punctuation", "P"},
                                             {"connectorpunctuation", "Pc"},
                                             {"dashpunctuation", "Pd"},
                                             {"openpunctuation", "Ps"},
                                             {"closepunctuation", "Pe"},
                                             {"initialpunctuation", "Pi"},
                                             {"finalpunctuation", "Pf"},
                                             {"otherpunctuation", "Po"},
                                             {"symbol", "S"},
                                             {"mathsymbol", "Sm"},
                                             {"currencysymbol", "Sc"},
                                             {"modifiersymbol", "Sk"},
                                             {"othersymbol", "So"},
                                             {"separator", "Z"},
                                             {"spaceseparator", "Zs"},
                                             {"lineseparator", "Zl"},
                                             {"paragraphseparator", "Zp"},
                                             {"other", "C"},
                                             {"control", "Cc"},
                                             {"format", "Cf"},
                                             {"privateuse", "Co"}}};

constexpr std::string_view short_categories =
    " l lu ll lt lm lo m mn mc me n nd nl no p pc pd ps pe pi pf po s sm sc sk so z zs zl zp c cc cf co cn cs any ";

constexpr std::string_view binary_properties =
    " alphabetic lowercase uppercase whitespace emoji emojipresentation emojimodifier emojicomponent extendedpictographic ideographic "
    "unifiedideograph idstart idcontinue xidstart xidcontinue hexdigit asciihexdigit math dash diacritic extender cased caseignorable "
    "quotationmark patternwhitespace patternsyntax graphemebase graphemeextend variationselector regionalindicator softdotted joincontrol "
    "radical defaultignorablecodepoint sentenceterminal terminalpunctuation noncharactercodepoint deprecated ";

std::string loose(std::string_view name) {
  std::string out;
  for (const char letter : name) {
    if (letter == ' ' || letter == '_' || letter == '-') continue;
    out.push_back(letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter);
  }
  return out;
}

bool listed(std::string_view list, const std::string& name) { return list.find(" " + name + " ") != std::string_view::npos; }

template <size_t count>
std::string_view look_up(const std::array<Row, count>& rows, std::string_view name) {
  for (const Row& row : rows) {
    if (row.first == name) return row.second;
  }
  return {};
}

CharacterSet single_property(std::string_view name, bool negated) { return set_of_body(fmt::format("\\{}{{{}}}", negated ? 'P' : 'p', name)); }

CharacterSet word_set(bool in_class) { return set_of_body(std::string(word).append(in_class ? "" : latin_word)); }

}  // namespace

CharacterSet set_of_body(std::string body) {
  std::string whole = "[" + body + "]";
  return {std::move(body), std::move(whole)};
}

CharacterSet complement(const CharacterSet& set) {
  if (!set.body.empty()) return {"", "[^" + set.body + "]"};
  return {"", "(?:(?!" + set.whole + ")(?s:.))"};
}

std::optional<CharacterSet> set_of_shorthand(char letter, bool in_class) {
  switch (letter) {
    case 'w':
      return word_set(in_class);
    case 'W':
      return complement(word_set(in_class));
    case 'h':
      return set_of_body(std::string(hexadecimal));
    case 'H':
      return complement(set_of_body(std::string(hexadecimal)));
    case 'd':
    case 'D':
    case 's':
    case 'S':
      return set_of_body(std::string{'\\', letter});
    default:
      return std::nullopt;
  }
}

std::optional<CharacterSet> set_of_posix(std::string_view name) {
  if (name == "graph") return complement(set_of_body(R"(\s\p{Cc}\p{Cn}\p{Cs})"));
  if (name == "print") return complement(set_of_body(R"(\p{Zl}\p{Zp}\p{Cc}\p{Cn}\p{Cs})"));
  const std::string_view body = look_up(posix, name);
  if (body.empty()) return std::nullopt;
  return set_of_body(std::string(body));
}

CharacterSet set_of_property(std::string_view name, bool negated, bool in_class) {
  const std::string key = loose(name);
  if (key == "word") return negated ? complement(word_set(in_class)) : word_set(in_class);
  if (const auto set = set_of_posix(key)) return negated ? complement(*set) : *set;
  if (const std::string_view category = look_up(categories, key); !category.empty()) return single_property(category, negated);
  if (key == "assigned") return single_property("Cn", !negated);
  if (listed(short_categories, key) || listed(binary_properties, key)) return single_property(key, negated);
  return single_property("sc:" + key, negated);
}

std::string literal(char32_t code) {
  const bool plain = (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') || code == ' ' || code == '_';
  if (plain) return std::string(1, static_cast<char>(code));
  return fmt::format("\\x{{{:02x}}}", static_cast<uint32_t>(code));
}

}  // namespace lagoon::regex_syntax
