// Filters on text.
#include "text/jinja/arguments.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/percent_format.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/text_operations.h"
#include "text/jinja/unicode.h"

#include <algorithm>

namespace lagoon::jinja {
namespace {

/// str(operand) through `form`, markup staying markup.
template <MarkedText (*form)(const MarkedText&)>
Value formed(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("filter", arguments, {"s"}, 1);
  return Value::text(form(str(bound[0], interpreter.budget())), bound[0].is_text() && bound[0].as_text().markup);
}

/// A word begins after a hyphen, white space or an opening bracket, and only there: `It's`, `X.y`.
MarkedText title_words(const MarkedText& text) {
  const std::string& bytes = text.text();
  const auto begins_word = [&](size_t at) {
    const char32_t code = character_at(bytes, at).code;
    return is_space(code) || (code < 0x80 && std::string_view("-({[<").find(static_cast<char>(code)) != std::string_view::npos);
  };
  MarkedText out;
  for (size_t at = 0; at < bytes.size();) {
    const size_t first = character_at(bytes, at).length;
    size_t end = at + first;
    const bool separator = begins_word(at);
    while (end < bytes.size() && begins_word(end) == separator) end += character_at(bytes, end).length;
    out.append(upper(text.slice(at, first)));
    out.append(lower(text.slice(at + first, end - at - first)));
    at = end;
  }
  return out;
}

Value title_filter(Interpreter& interpreter, Arguments& arguments) {
  if (!arguments.values.empty() && arguments.values[0].is_text()) interpreter.budget().step(arguments.values[0].bytes().size());  // words are many
  return formed<title_words>(interpreter, arguments);
}

Value trim(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("trim", arguments, {"value", "chars"}, 1);
  const MarkedText text = str(bound[0], interpreter.budget());
  interpreter.budget().step(text.size() / 8);
  if (bound.is_none(1)) return Value::text(strip(text, Side::both));
  if (!bound[1].is_text()) raise("TypeError", "strip arg must be None or str");
  interpreter.budget().step(bound[1].bytes().size());
  return Value::text(strip(text, Side::both, &bound[1].bytes()));
}

Value replace_filter(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("replace", arguments, {"s", "old", "new", "count"}, 3);
  const int64_t limit = bound.is_none(3) ? -1 : bound.integer(3, -1);
  const MarkedText old = str(bound[1], interpreter.budget());
  const MarkedText text = str(bound[0], interpreter.budget());
  interpreter.budget().search(text.size(), old.size());
  return Value::text(replace(text, old.text(), str(bound[2], interpreter.budget()), limit, interpreter.budget()));
}

Value center(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("center", arguments, {"value", "width"}, 1);
  Value text = Value::text(str(bound[0], interpreter.budget()));
  const auto characters = static_cast<int64_t>(text.as_text().characters);
  const int64_t width = bound.integer(1, 80);
  if (width <= characters) return text;
  interpreter.budget().text(static_cast<size_t>(width));
  const int64_t missing = width - characters;
  const int64_t in_front = missing / 2 + (missing & width & 1);
  MarkedText out = padding(static_cast<size_t>(in_front));
  out.append(text.marked());
  out.append(padding(static_cast<size_t>(missing - in_front)));
  return Value::text(std::move(out));
}

Value format(Interpreter& interpreter, Arguments& arguments) {
  if (arguments.values.empty()) raise("TypeError", "format() missing a required argument: 'value'");
  const MarkedText pattern = str(arguments.values[0], interpreter.budget());
  std::vector<Value> values(arguments.values.begin() + 1, arguments.values.end());
  if (!values.empty() && !arguments.named.empty()) {
    raise("FilterArgumentError", "can't handle positional and keyword arguments at the same time");
  }
  if (arguments.named.empty()) return Value::text(percent_format(pattern, Value::tuple(std::move(values)), interpreter.budget()));
  Dict named;
  for (const auto& [name, value] : arguments.named) named.set(name, value);
  return Value::text(percent_format(pattern, Value::dict(std::move(named)), interpreter.budget()));
}

Value indent(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("indent", arguments, {"s", "width", "first", "blank"}, 1);
  require_defined(bound[0]);
  if (bound[0].is_list()) raise("AttributeError", "'list' object has no attribute 'splitlines'");
  if (!bound[0].is_text()) raise("TypeError", "unsupported operand type(s) for +=: '{}' and 'str'", type_name(bound[0]));
  MarkedText step;
  if (bound.has(1) && bound[1].is_text()) {
    step = bound[1].marked();
  } else {
    const int64_t width = bound.integer(1, 4);
    interpreter.budget().text(width > 0 ? static_cast<size_t>(width) : 0);
    step = padding(width > 0 ? static_cast<size_t>(width) : 0);
  }
  MarkedText text = bound[0].marked();
  text.append("\n", Origin::from_data);
  interpreter.budget().step(text.size() / 8);
  const std::vector<MarkedText> lines = split_lines(text, false);
  interpreter.budget().step(lines.size() * 2);
  interpreter.budget().text(text.size() + saturated_product(lines.size(), step.size()));
  MarkedText out;
  if (bound.flag(2)) out.append(step);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) {
      out.append("\n", Origin::from_data);
      if (bound.flag(3) || !lines[i].empty()) out.append(step);
    }
    out.append(lines[i]);
  }
  return Value::text(std::move(out), bound[0].as_text().markup);
}

Value truncate(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("truncate", arguments, {"s", "length", "killwords", "end", "leeway"}, 1);
  const Value end = bound.has(3) ? bound.text(3) : Value::text("...", Origin::from_template);
  const int64_t length = bound.integer(1, 255);
  const int64_t leeway = bound.is_none(4) ? 5 : bound.integer(4, 5);
  const auto end_characters = static_cast<int64_t>(end.as_text().characters);
  if (length < end_characters) raise("AssertionError", "expected length >= {}, got {}", end_characters, length);
  if (leeway < 0) raise("AssertionError", "expected leeway >= 0, got {}", leeway);
  const auto size = length_of(bound[0]);
  if (!size) raise("TypeError", "object of type '{}' has no len()", type_name(bound[0]));
  if (*size <= static_cast<size_t>(length + std::min<int64_t>(leeway, INT32_MAX))) return bound[0];
  if (!bound[0].is_text()) raise("TypeError", "can only concatenate {} (not \"str\") to {}", type_name(bound[0]), type_name(bound[0]));
  interpreter.budget().step(bound[0].bytes().size() / 8);
  MarkedText out = text_slice(bound[0].as_text(), 0, 1, length - end_characters);
  if (!bound.flag(2)) out = split_right(out, " ", 1)[0];
  out.append(end.marked());
  return Value::text(std::move(out));
}

Value wordcount(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("wordcount", arguments, {"s"}, 1);
  const MarkedText text = str(bound[0], interpreter.budget());
  const std::string& bytes = text.text();
  interpreter.budget().step(bytes.size() / 4);
  int64_t count = 0;
  bool inside = false;
  for (size_t at = 0; at < bytes.size(); at += character_at(bytes, at).length) {
    const char32_t code = character_at(bytes, at).code;
    const bool word = code == '_' || is_alnum(code);
    if (word && !inside) ++count;
    inside = word;
  }
  return Value::integer(count);
}

Value string(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("string", arguments, {"object"}, 1);
  return bound[0].is_text() ? bound[0] : Value::text(str(bound[0], interpreter.budget()));
}

Value join(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("join", arguments, {"value", "d", "attribute"}, 1);
  Arguments mapped;
  Value items = bound[0];
  if (!bound.is_none(2)) {
    mapped.values = {bound[0]};
    mapped.named.emplace_back("attribute", bound[2]);
    if (!is_iterable(items)) raise("TypeError", "'{}' object is not iterable", type_name(items));
    items = interpreter.call_filter("map", mapped);
  }
  const MarkedText separator = bound.has(1) ? str(bound[1], interpreter.budget()) : MarkedText();
  MarkedText out;
  bool first = true;
  Iterator iterator(items);
  for (Value item; iterator.next(item); first = false) {
    if (!first) out.append(separator);
    out.append(str(item, interpreter.budget()));
    interpreter.budget().step();
    interpreter.budget().text(out.size());
  }
  return Value::text(std::move(out), interpreter.autoescape());
}

}  // namespace

std::vector<FilterRow> text_filters() {
  return {{"upper", formed<upper>},
          {"lower", formed<lower>},
          {"title", title_filter},
          {"capitalize", formed<capitalize>},
          {"trim", trim},
          {"replace", replace_filter},
          {"center", center},
          {"format", format},
          {"indent", indent},
          {"truncate", truncate},
          {"wordcount", wordcount},
          {"string", string},
          {"join", join}};
}

}  // namespace lagoon::jinja
