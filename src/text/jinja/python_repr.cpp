#include "text/jinja/python_repr.h"

#include "text/jinja/limits.h"
#include "text/jinja/objects.h"
#include "text/jinja/template_error.h"
#include "text/jinja/unicode.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lagoon::jinja {
namespace {

// What a repr may grow to: lists that hold one list many times, level by level, would grow without bound.
constexpr size_t repr_limit = size_t{64} << 20;

void append_repr(std::string& out, const Value& value);

void append_items(std::string& out, const std::vector<Value>& items) {
  bool first = true;
  for (const Value& item : items) {
    if (!first) out += ", ";
    first = false;
    append_repr(out, item);
  }
}

void append_dict(std::string& out, const Dict& dict) {
  out += '{';
  bool first = true;
  for (const auto& [key, value] : dict.entries()) {
    if (!first) out += ", ";
    first = false;
    append_repr(out, key);
    out += ": ";
    append_repr(out, value);
  }
  out += '}';
}

void append_repr(std::string& out, const Value& value) {
  if (out.size() > repr_limit) raise("LimitError", "a text is longer than the limit of {} bytes", repr_limit);
  switch (value.kind()) {
    case Value::Kind::missing:
      return;
    case Value::Kind::none:
      out += "None";
      return;
    case Value::Kind::boolean:
      out += value.as_boolean() ? "True" : "False";
      return;
    case Value::Kind::integer:
      out += fmt::format("{}", *value.as_small());
      return;
    case Value::Kind::big_integer:
      out += value.as_mpz().get_str();
      return;
    case Value::Kind::real:
      out += repr_of_real(value.as_real());
      return;
    case Value::Kind::text:
      out += value.as_text().markup ? "Markup(" + repr_of_text(value.bytes()) + ")" : repr_of_text(value.bytes());
      return;
    case Value::Kind::list:
      out += '[';
      append_items(out, value.items());
      out += ']';
      return;
    case Value::Kind::tuple:
      out += '(';
      append_items(out, value.items());
      out += value.items().size() == 1 ? ",)" : ")";
      return;
    case Value::Kind::dict:
      append_dict(out, value.as_dict());
      return;
    case Value::Kind::object:
      out += value.as_object().repr();
      return;
  }
}

void append_python_escape(std::string& out, char32_t code) {
  if (code == '\n') {
    out += "\\n";
  } else if (code == '\r') {
    out += "\\r";
  } else if (code == '\t') {
    out += "\\t";
  } else if (code < 0x100) {
    append_escape(out, "\\x", code, 2);
  } else if (code < 0x10000) {
    append_escape(out, "\\u", code, 4);
  } else {
    append_escape(out, "\\U", code, 8);
  }
}

}  // namespace

Decimal shortest_decimal(double value) {
  if (value == 0) return {"0", 1};
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  std::string digits;
  for (const char byte : text.substr(0, e)) {
    if (byte != '.') digits += byte;
  }
  const bool negative = text[e + 1] == '-';
  int exponent = 0;
  std::from_chars(text.data() + e + 2, text.data() + text.size(), exponent);
  return {digits, (negative ? -exponent : exponent) + 1};
}

std::string repr_of_real(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const auto [digits, point] = shortest_decimal(std::fabs(value));
  std::string out = std::signbit(value) ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (point > 16 || point < -3) {
    out += digits[0];
    if (count > 1) out += "." + digits.substr(1);
    const int exponent = point - 1;
    return out + fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (point <= 0) return out + "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  if (point >= count) return out + digits + std::string(static_cast<size_t>(point - count), '0') + ".0";
  return out + digits.substr(0, static_cast<size_t>(point)) + "." + digits.substr(static_cast<size_t>(point));
}

std::string repr_of_text(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  const auto plain = [&](char byte) { return byte >= ' ' && byte < 0x7f && byte != quote && byte != '\\'; };
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && plain(text[end])) ++end;
    out.append(text.substr(at, end - at));
    at = end;
    if (at == text.size()) break;
    const Character character = character_at(text, at);
    if (character.code == static_cast<unsigned char>(quote) || character.code == '\\') {
      out += '\\';
      out += text[at];
    } else if (character.code < 0x7f ? character.code >= 0x20 : is_printable(character.code)) {
      out.append(text.substr(at, character.length));
    } else {
      append_python_escape(out, character.code);
    }
    at += character.length;
  }
  return out + quote;
}

std::string repr(const Value& value) {
  std::string out;
  append_repr(out, value);
  return out;
}

void charge_repr(const Value& value, Budget& budget) {
  budget.step(3);
  switch (value.kind()) {
    case Value::Kind::big_integer:
      return budget.step(value.own_bytes() / 2);  // the digits are made by division
    case Value::Kind::text:
      return budget.step(value.bytes().size() / 4);
    case Value::Kind::list:
    case Value::Kind::tuple:
      for (const Value& item : value.items()) charge_repr(item, budget);
      return;
    case Value::Kind::dict:
      for (const auto& [key, item] : value.as_dict().entries()) {
        charge_repr(key, budget);
        charge_repr(item, budget);
      }
      return;
    case Value::Kind::object:
      if (const auto* view = value.as<DictView>()) charge_repr(view->dict(), budget);
      return;
    default:
      return;
  }
}

std::string repr(const Value& value, Budget& budget) {
  charge_repr(value, budget);
  return repr(value);
}

MarkedText str(const Value& value, Budget& budget) {
  if (!value.is_text()) charge_repr(value, budget);
  return str(value);
}

MarkedText str(const Value& value) {
  if (value.is_text()) return value.marked();
  if (is_undefined(value)) return {};
  return MarkedText(repr(value), Origin::from_data);
}

}  // namespace lagoon::jinja
