// Methods of str that change its form, pad it, format with it or ask what it is made of.
#include "base/utf8.h"
#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/string_format.h"
#include "text/jinja/template_error.h"
#include "text/jinja/text_operations.h"
#include "text/jinja/unicode.h"

#include <algorithm>
#include <array>

namespace lagoon::jinja {
namespace {

template <MarkedText (*form)(const MarkedText&)>
Value formed(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("str method", arguments, {}, 0);
  interpreter.budget().visit(self.bytes().size());
  return Value::text(form(self.marked()));
}

MarkedText fold(const MarkedText& text) {
  return map_characters(text, [](const std::string& bytes, size_t at) { return fold_of(character_at(bytes, at).code); });
}

/// True if the text is not empty and `is` holds for each of its characters.
template <bool (*is)(char32_t)>
Value all_are(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("str method", arguments, {}, 0);
  const std::string& text = self.bytes();
  interpreter.budget().visit(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (!is(character.code)) return Value::boolean(false);
    at += character.length;
  }
  return Value::boolean(!text.empty());
}

/// islower and isupper: some cased character, and none of the other case.
template <bool (*is)(char32_t)>
Value all_cased_are(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("str method", arguments, {}, 0);
  const std::string& text = self.bytes();
  interpreter.budget().visit(text.size());
  bool found = false;
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (is_cased(character.code) && !is(character.code)) return Value::boolean(false);
    found = found || is(character.code);
    at += character.length;
  }
  return Value::boolean(found);
}

Value istitle(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("istitle", arguments, {}, 0);
  const std::string& text = self.bytes();
  interpreter.budget().visit(text.size());
  bool found = false;
  bool cased_before = false;
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const bool low = is_lower(character.code);
    const bool cased = is_cased(character.code);
    if (cased && low != cased_before) return Value::boolean(false);
    found = found || cased;
    cased_before = cased;
    at += character.length;
  }
  return Value::boolean(found);
}

Value isascii(Interpreter&, const Value& self, Arguments& arguments) {
  const Bound bound("isascii", arguments, {}, 0);
  return Value::boolean(self.as_text().ascii());
}

Value isidentifier(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("isidentifier", arguments, {}, 0);
  interpreter.budget().visit(self.bytes().size());
  const std::string& text = self.bytes();
  if (text.empty() || is_decimal(character_at(text, 0).code)) return Value::boolean(false);
  for (size_t at = 0; at < text.size(); at += character_at(text, at).length) {
    if (!is_identifier_part(character_at(text, at).code)) return Value::boolean(false);
  }
  return Value::boolean(true);
}

Value isprintable(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("isprintable", arguments, {}, 0);
  interpreter.budget().visit(self.bytes().size());
  for (size_t at = 0; at < self.bytes().size(); at += character_at(self.bytes(), at).length) {
    if (!is_printable(character_at(self.bytes(), at).code)) return Value::boolean(false);
  }
  return Value::boolean(true);
}

/// Text of at least `width` characters. `before(missing)` says how many of the missing ones go in front.
template <typename Before>
Value padded(std::string_view name, Interpreter& interpreter, const Value& self, Arguments& arguments, Before before) {
  const Bound bound(name, arguments, {"width", "fillchar"}, 1);
  const int64_t width = bound.integer(0, 0);
  std::string fill = " ";
  if (bound.has(1)) {
    fill = bound.text(1).bytes();
    if (bound[1].as_text().characters != 1) raise("TypeError", "The fill character must be exactly one character long");
  }
  const auto characters = static_cast<int64_t>(self.as_text().characters);
  if (width <= characters) return self;
  interpreter.budget().text(saturated_product(static_cast<size_t>(width), fill.size()));
  const int64_t missing = width - characters;
  const int64_t in_front = before(missing, width);
  MarkedText out = padding(static_cast<size_t>(in_front), fill);
  out.append(self.marked());
  out.append(padding(static_cast<size_t>(missing - in_front), fill));
  return Value::text(std::move(out));
}

Value ljust(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return padded("ljust", interpreter, self, arguments, [](int64_t, int64_t) { return int64_t{0}; });
}

Value rjust(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return padded("rjust", interpreter, self, arguments, [](int64_t missing, int64_t) { return missing; });
}

Value center(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  // Of an odd number of missing characters, the extra one goes in front where the width is odd.
  return padded("center", interpreter, self, arguments, [](int64_t missing, int64_t width) { return missing / 2 + (missing & width & 1); });
}

Value zfill(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("zfill", arguments, {"width"}, 1);
  const auto characters = static_cast<int64_t>(self.as_text().characters);
  const int64_t width = bound.integer(0, 0);
  if (width <= characters) return self;
  interpreter.budget().text(static_cast<size_t>(width));
  const size_t sign = !self.bytes().empty() && (self.bytes()[0] == '-' || self.bytes()[0] == '+') ? 1 : 0;
  MarkedText out = self.marked().slice(0, sign);
  out.append(padding(static_cast<size_t>(width - characters), "0"));
  out.append(self.marked().slice(sign, self.bytes().size()));
  return Value::text(std::move(out));
}

Value expandtabs(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("expandtabs", arguments, {"tabsize"}, 0);
  interpreter.budget().step(self.bytes().size());
  const int64_t size = bound.integer(0, 8);
  const std::string& text = self.bytes();
  MarkedText out;
  int64_t column = 0;
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.code == '\t') {
      const int64_t spaces = size > 0 ? size - column % size : 0;
      interpreter.budget().text(out.size() + static_cast<size_t>(spaces));
      out.append(padding(static_cast<size_t>(spaces)));
      column += spaces;
    } else {
      out.append(self.marked().slice(at, character.length));
      column = character.code == '\n' || character.code == '\r' ? 0 : column + 1;
    }
    at += character.length;
  }
  return Value::text(std::move(out));
}

Value format(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return Value::text(string_format(self.marked(), arguments, interpreter.budget()));
}

Value format_map(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("format_map", arguments, {"mapping"}, 1);
  if (!bound[0].is_dict()) raise("TypeError", "format_map() wants a mapping");
  interpreter.budget().step(bound[0].as_dict().size() * 2);
  Arguments named;
  for (const auto& [key, value] : bound[0].as_dict().entries()) {
    if (key.is_text()) named.named.emplace_back(key.bytes(), value);
  }
  return Value::text(string_format(self.marked(), named, interpreter.budget()));
}

/// Characters that the table maps: to text, to the character of a number, or to nothing.
Value translate(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("translate", arguments, {"table"}, 1);
  const std::string& text = self.bytes();
  MarkedText out;
  for (size_t at = 0; at < text.size();) {
    interpreter.budget().step(8);
    const Character character = character_at(text, at);
    const Value key = Value::integer(static_cast<int64_t>(character.code));
    const Value mapped = get_item(bound[0], key);
    if (is_undefined(mapped)) {
      out.append(self.marked().slice(at, character.length));
    } else if (mapped.is_text()) {
      out.append(mapped.marked());
    } else if (mapped.is_integer()) {
      std::string bytes;
      const int64_t code = to_index(mapped);
      if (code < 0 || code > 0x10ffff) raise("ValueError", "character mapping must be in range(0x110000)");
      append_utf8(bytes, code >= 0xd800 && code < 0xe000 ? 0xfffd : static_cast<char32_t>(code));
      out.append(bytes, Origin::from_data);
    } else if (!mapped.is_none()) {
      raise("TypeError", "character mapping must return integer, None or str");
    }
    interpreter.budget().text(out.size());
    at += character.length;
  }
  return Value::text(std::move(out));
}

/// Bytes are not a type of the language; a tuple of numbers stands in, which has their length and items.
Value encode(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("encode", arguments, {"encoding", "errors"}, 0);
  interpreter.budget().list(self.bytes().size());
  std::vector<Value> bytes;
  bytes.reserve(self.bytes().size());
  for (const char byte : self.bytes()) bytes.push_back(Value::integer(static_cast<unsigned char>(byte)));
  return Value::tuple(std::move(bytes));
}

constexpr std::array<MethodRow, 27> methods = {{
    {"upper", formed<upper>},
    {"lower", formed<lower>},
    {"title", formed<title>},
    {"capitalize", formed<capitalize>},
    {"swapcase", formed<swap_case>},
    {"casefold", formed<fold>},
    {"isalpha", all_are<is_alpha>},
    {"isdigit", all_are<is_digit>},
    {"isdecimal", all_are<is_decimal>},
    {"isnumeric", all_are<is_numeric>},
    {"isalnum", all_are<is_alnum>},
    {"isspace", all_are<is_space>},
    {"islower", all_cased_are<is_lower>},
    {"isupper", all_cased_are<is_upper>},
    {"istitle", istitle},
    {"isascii", isascii},
    {"isidentifier", isidentifier},
    {"isprintable", isprintable},
    {"ljust", ljust},
    {"rjust", rjust},
    {"center", center},
    {"zfill", zfill},
    {"expandtabs", expandtabs},
    {"format", format},
    {"format_map", format_map},
    {"translate", translate},
    {"encode", encode},
}};

}  // namespace

Method find_text_form_method(std::string_view name) {
  const auto found = std::find_if(methods.begin(), methods.end(), [&](const MethodRow& row) { return row.name == name; });
  return found == methods.end() ? nullptr : found->method;
}

}  // namespace lagoon::jinja
