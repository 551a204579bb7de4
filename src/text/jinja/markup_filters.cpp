// Filters that make or take HTML and URLs: rare in chat templates, but some use `safe` and `e`.
#include "text/jinja/arguments.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/text_operations.h"

#include <algorithm>

namespace lagoon::jinja {
namespace {

Value escape(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("escape", arguments, {"s"}, 1);
  return escape_markup(bound[0], interpreter.budget());
}

Value forceescape(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("forceescape", arguments, {"value"}, 1);
  return escape_markup(Value::text(str(bound[0], interpreter.budget())), interpreter.budget());
}

Value safe(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("safe", arguments, {"value"}, 1);
  return Value::text(str(bound[0], interpreter.budget()), true);
}

/// Without comments and tags, white space runs as one space. Entities are refused rather than left as they are.
Value striptags(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("striptags", arguments, {"value"}, 1);
  MarkedText text = str(bound[0], interpreter.budget());
  for (const auto& [open, close] : {std::pair<const char*, const char*>("<!--", "-->"), std::pair<const char*, const char*>("<", ">")}) {
    MarkedText kept;
    size_t at = 0;
    while (at < text.size()) {
      const size_t begin = text.text().find(open, at);
      const size_t end = begin == std::string::npos ? begin : text.text().find(close, begin);
      if (end == std::string::npos) break;
      kept.append(text.slice(at, begin - at));
      at = end + std::string_view(close).size();
    }
    kept.append(text.slice(at, text.size() - at));
    text = std::move(kept);
  }
  if (text.text().find('&') != std::string::npos) raise("TemplateRuntimeError", "the filter 'striptags' does not support entities (&...;)");
  MarkedText out;
  for (const MarkedText& word : split_space(text, -1)) {
    if (!out.empty()) out.append(" ", Origin::from_data);
    out.append(word);
  }
  return Value::text(std::move(out));
}

Value xmlattr(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("xmlattr", arguments, {"d", "autospace"}, 1);
  require_defined(bound[0]);
  if (!bound[0].is_dict()) raise("AttributeError", "'{}' object has no attribute 'items'", type_name(bound[0]));
  MarkedText out;
  for (const auto& [key, value] : bound[0].as_dict().entries()) {
    if (value.is_none() || is_undefined(value)) continue;
    if (value.is_text()) interpreter.budget().visit(value.bytes().size());
    interpreter.budget().step(8);
    if (!key.is_text()) raise("TypeError", "expected string or bytes-like object, got '{}'", type_name(key));
    interpreter.budget().visit(key.bytes().size());
    if (key.bytes().find_first_of(" \t\n\r\f\v/>=") != std::string::npos) {
      raise("ValueError", "Invalid character in attribute name: {}", repr(key));
    }
    if (!out.empty() || bound.flag(1, true)) out.append(" ", Origin::from_data);
    out.append(escape_markup(key, interpreter.budget()).marked());
    out.append("=\"", Origin::from_data);
    out.append(escape_markup(value, interpreter.budget()).marked());
    out.append("\"", Origin::from_data);
  }
  return Value::text(std::move(out), interpreter.autoescape());
}

MarkedText quoted(const Value& value, bool in_query, Budget& budget) {
  budget.step();
  if (value.is_text()) budget.visit(value.bytes().size());
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~";
  return map_characters(str(value, budget), [&](const std::string& bytes, size_t at) {
    const char byte = bytes[at];
    if (plain.find(byte) != std::string_view::npos || (byte == '/' && !in_query)) return std::string(1, byte);
    if (byte == ' ' && in_query) return std::string("+");
    std::string out;
    do out += fmt::format("%{:02X}", static_cast<unsigned char>(bytes[at++]));
    while (at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0xc0) == 0x80);
    return out;
  });
}

Value urlencode(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("urlencode", arguments, {"value"}, 1);
  if (bound[0].is_text() || !is_iterable(bound[0])) return Value::text(quoted(bound[0], false, interpreter.budget()));
  if (bound[0].is_dict()) interpreter.budget().step(bound[0].as_dict().size() * 4);
  const Value pairs = bound[0].is_dict() ? Value::list(DictView(bound[0], DictView::Part::items).items()) : bound[0];
  MarkedText out;
  for (const Value& pair : to_vector(pairs)) {
    const std::vector<Value> parts = to_vector(pair);
    if (parts.size() != 2) raise("ValueError", "not enough values to unpack (expected 2, got {})", parts.size());
    if (!out.empty()) out.append("&", Origin::from_data);
    out.append(quoted(parts[0], true, interpreter.budget()));
    out.append("=", Origin::from_data);
    out.append(quoted(parts[1], true, interpreter.budget()));
  }
  return Value::text(std::move(out));
}

Value unsupported_urlize(Interpreter&, Arguments&) { raise("TemplateRuntimeError", "the filter 'urlize' is not supported"); }
Value unsupported_wordwrap(Interpreter&, Arguments&) { raise("TemplateRuntimeError", "the filter 'wordwrap' is not supported"); }

}  // namespace

std::vector<FilterRow> markup_filters() {
  return {{"e", escape},
          {"escape", escape},
          {"forceescape", forceescape},
          {"safe", safe},
          {"striptags", striptags},
          {"xmlattr", xmlattr},
          {"urlencode", urlencode},
          {"urlize", unsupported_urlize},
          {"wordwrap", unsupported_wordwrap}};
}

}  // namespace lagoon::jinja
