#include "text/jinja/json.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/template_error.h"
#include "text/jinja/unicode.h"

#include <cmath>

namespace lagoon::jinja {
namespace {

class Writer {
 public:
  Writer(const JsonStyle& style, Budget& budget) : style_(style), budget_(budget) {}
  std::string take() { return std::move(out_); }
  void write(const Value& value, int level);

 private:
  void charge(const Value& value, int level);
  void write_text(const std::string& text);
  void write_list(const std::vector<Value>& items, int level);
  void write_dict(const Dict& dict, int level);
  void write_key(const Value& key);
  void new_line(int level);
  static std::string real(double value);

  const JsonStyle& style_;
  Budget& budget_;
  std::string out_;
};

std::string Writer::real(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return repr_of_real(value);
}

void Writer::new_line(int level) {
  if (!style_.indented) return;
  budget_.text(out_.size() + saturated_product(style_.indent.size(), static_cast<size_t>(level)));
  out_ += '\n';
  for (int i = 0; i < level; ++i) out_ += style_.indent;
}

/// Takes the steps of a value without what it holds.
void Writer::charge(const Value& value, int level) {
  budget_.step(3 + static_cast<uint64_t>(level) / 16);
  if (value.is_text()) budget_.step(value.bytes().size() / (style_.ensure_ascii ? 2 : 4));
  if (value.kind() == Value::Kind::big_integer) budget_.step(value.own_bytes() / 2);
}

void Writer::write(const Value& value, int level) {
  budget_.text(out_.size());
  charge(value, level);
  switch (value.kind()) {
    case Value::Kind::none:
      out_ += "null";
      return;
    case Value::Kind::boolean:
      out_ += value.as_boolean() ? "true" : "false";
      return;
    case Value::Kind::integer:
    case Value::Kind::big_integer:
      out_ += value.as_mpz().get_str();
      return;
    case Value::Kind::real:
      out_ += real(value.as_real());
      return;
    case Value::Kind::text:
      return write_text(value.bytes());
    case Value::Kind::list:
    case Value::Kind::tuple:
      return write_list(value.items(), level);
    case Value::Kind::dict:
      return write_dict(value.as_dict(), level);
    default:
      raise("TypeError", "Object of type {} is not JSON serializable", type_name(value));
  }
}

void Writer::write_text(const std::string& text) {
  constexpr std::string_view short_escapes = "\b\t\n\f\r\"\\";
  constexpr std::string_view letters = "btnfr\"\\";
  out_ += '"';
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const size_t escape = character.code < 0x80 ? short_escapes.find(text[at]) : std::string_view::npos;
    if (escape != std::string_view::npos) {
      out_ += '\\';
      out_ += letters[escape];
    } else if (character.code < 0x20 || (style_.ensure_ascii && character.code >= 0x80 && character.code < 0x10000)) {
      append_escape(out_, "\\u", character.code, 4);
      budget_.text(out_.size());
    } else if (style_.ensure_ascii && character.code >= 0x10000) {
      const char32_t offset = character.code - 0x10000;
      append_escape(out_, "\\u", 0xd800 + (offset >> 10), 4);
      append_escape(out_, "\\u", 0xdc00 + (offset & 0x3ff), 4);
      budget_.text(out_.size());
    } else {
      out_.append(text, at, character.length);
    }
    at += character.length;
  }
  out_ += '"';
}

void Writer::write_list(const std::vector<Value>& items, int level) {
  if (items.empty()) {
    out_ += "[]";
    return;
  }
  out_ += '[';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out_ += style_.item_separator;
    new_line(level + 1);
    write(items[i], level + 1);
  }
  new_line(level);
  out_ += ']';
}

void Writer::write_key(const Value& key) {
  if (key.is_text()) return write_text(key.bytes());
  if (key.is_real()) return write_text(real(key.as_real()));
  if (key.is_boolean()) return write_text(key.as_boolean() ? "true" : "false");
  if (key.is_none()) return write_text("null");
  if (key.is_integer()) return write_text(key.as_mpz().get_str());
  raise("TypeError", "keys must be str, int, float, bool or None, not {}", type_name(key));
}

void Writer::write_dict(const Dict& dict, int level) {
  if (dict.size() == 0) {
    out_ += "{}";
    return;
  }
  std::vector<Value> order;
  order.reserve(dict.size());
  for (const auto& entry : dict.entries()) order.push_back(entry.first);
  if (style_.sort_keys) order = sorted(order, order, false, budget_);
  out_ += '{';
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0) out_ += style_.item_separator;
    new_line(level + 1);
    charge(order[i], 0);
    if (style_.sort_keys) charge_key(order[i], budget_);
    write_key(order[i]);
    out_ += style_.key_separator;
    write(style_.sort_keys ? *dict.find(order[i]) : dict.entries()[i].second, level + 1);
  }
  new_line(level);
  out_ += '}';
}

}  // namespace

std::string write_json(const Value& value, const JsonStyle& style, Budget& budget) {
  Writer writer(style, budget);
  writer.write(value, 0);
  std::string out = writer.take();
  budget.text(out.size());
  return out;
}

}  // namespace lagoon::jinja
