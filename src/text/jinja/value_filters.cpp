// Filters on single values: numbers, defaults, JSON.
#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/json.h"
#include "text/jinja/numbers.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_repr.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lagoon::jinja {
namespace {

Value absolute(Interpreter&, Arguments& arguments) {
  const Bound bound("abs", arguments, {"x"}, 1);
  if (!bound[0].is_number()) raise("TypeError", "bad operand type for abs(): '{}'", type_name(bound[0]));
  if (bound[0].is_real()) return Value::real(std::fabs(bound[0].as_real()));
  return Value::integer(mpz_class(abs(bound[0].as_mpz())));
}

Value to_integer(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("int", arguments, {"value", "default", "base"}, 1);
  Value otherwise = bound.has(1) ? bound[1] : Value::integer(0);
  const Value& value = bound[0];
  require_defined(value);
  if (value.is_integer()) return Value::integer(value.as_mpz());
  if (value.is_real()) return std::isnan(value.as_real()) ? otherwise : truncated(value.as_real());
  if (!value.is_text()) return otherwise;
  if (const auto parsed = parse_integer(value.bytes(), static_cast<int>(bound.integer(2, 10)))) {
    interpreter.budget().integer(mpz_sizeinbase(parsed->get_mpz_t(), 2));
    return Value::integer(*parsed);
  }
  const auto real = parse_real(value.bytes());
  return real && std::isfinite(*real) ? truncated(*real) : otherwise;
}

Value to_float(Interpreter&, Arguments& arguments) {
  const Bound bound("float", arguments, {"value", "default"}, 1);
  Value otherwise = bound.has(1) ? bound[1] : Value::real(0);
  require_defined(bound[0]);
  if (bound[0].is_number()) return Value::real(to_real(bound[0]));
  if (!bound[0].is_text()) return otherwise;
  const auto parsed = parse_real(bound[0].bytes());
  return parsed ? Value::real(*parsed) : otherwise;
}

Value round_filter(Interpreter& interpreter, Arguments& arguments) {
  interpreter.budget().step(64);  // digits are written and read back
  const Bound bound("round", arguments, {"value", "precision", "method"}, 1);
  const std::string method = bound.has(2) && bound[2].is_text() ? bound[2].bytes() : "common";
  if (method != "common" && method != "ceil" && method != "floor") raise("FilterArgumentError", "method must be common, ceil or floor");
  const int64_t precision = bound.integer(1, 0);
  if (!bound[0].is_number()) {
    if (method != "common") require_defined(bound[0]);
    raise("TypeError", "type {} doesn't define __round__ method", type_name(bound[0]));
  }
  if (precision < 0) interpreter.budget().step(static_cast<uint64_t>(-std::max<int64_t>(precision, -4300)) / 4);
  if (method == "common") return rounded(bound[0], precision);
  const Value unit = arithmetic(BinaryOperator::pow, Value::integer(10), Value::integer(precision), interpreter.budget());
  const Value scaled = arithmetic(BinaryOperator::mul, bound[0], unit, interpreter.budget());
  Value whole = scaled;
  if (scaled.is_real()) whole = truncated(method == "ceil" ? std::ceil(scaled.as_real()) : std::floor(scaled.as_real()));
  return arithmetic(BinaryOperator::div, whole, unit, interpreter.budget());
}

Value filesizeformat(Interpreter&, Arguments& arguments) {
  constexpr std::array<const char*, 8> decimal = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  constexpr std::array<const char*, 8> binary = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  const Bound bound("filesizeformat", arguments, {"value", "binary"}, 1);
  require_defined(bound[0]);
  double bytes = 0;
  if (bound[0].is_text()) {
    const auto parsed = parse_real(bound[0].bytes());
    if (!parsed) raise("ValueError", "could not convert string to float: {}", repr(bound[0]));
    bytes = *parsed;
  } else {
    if (!bound[0].is_number()) raise("TypeError", "float() argument must be a string or a real number, not '{}'", type_name(bound[0]));
    bytes = to_real(bound[0]);
  }
  const bool is_binary = bound.flag(1);
  const double base = is_binary ? 1024 : 1000;
  if (bytes == 1) return Value::data("1 Byte");
  if (bytes < base) return Value::data(fmt::format("{} Bytes", repr(truncated(bytes))));
  double unit = base;
  size_t prefix = 0;
  do unit *= base;
  while (bytes >= unit && ++prefix + 1 < decimal.size() + 1 && prefix < decimal.size() - 1);
  if (bytes >= unit && prefix == decimal.size() - 1) unit = std::pow(base, 9);
  return Value::data(fmt::format("{:.1f} {}", base * bytes / unit, (is_binary ? binary : decimal)[prefix]));
}

Value default_filter(Interpreter&, Arguments& arguments) {
  const Bound bound("default", arguments, {"value", "default_value", "boolean"}, 1);
  if (!is_undefined(bound[0]) && !(bound.flag(2) && !truth(bound[0]))) return bound[0];
  return bound.has(1) ? bound[1] : Value::text(MarkedText());
}

std::string indent_of(const Value& value, Budget& budget) {
  if (value.is_text()) return value.bytes();
  const int64_t width = to_index(value);
  budget.text(width > 0 ? static_cast<size_t>(width) : 0);
  return std::string(width > 0 ? static_cast<size_t>(width) : 0, ' ');
}

Value tojson(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("tojson", arguments, {"x", "ensure_ascii", "indent", "separators", "sort_keys"}, 1);
  JsonStyle style;
  style.ensure_ascii = bound.flag(1);
  style.sort_keys = bound.flag(4);
  if (!bound.is_none(2)) {
    style.indented = true;
    style.indent = indent_of(bound[2], interpreter.budget());
    style.item_separator = ",";
  }
  if (!bound.is_none(3)) {
    const std::vector<Value> separators = to_vector(bound[3]);
    if (separators.size() != 2) raise("ValueError", "separators must be a pair");
    if (!separators[0].is_text() || !separators[1].is_text()) raise("TypeError", "separators must be strings");
    style.item_separator = separators[0].bytes();
    style.key_separator = separators[1].bytes();
  }
  return Value::data(write_json(bound[0], style, interpreter.budget()));
}

/// Python breaks longer lines; what fits one is the same in both.
Value pprint(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("pprint", arguments, {"value"}, 1);
  Value value = bound[0];
  charge_repr(value, interpreter.budget());
  if (value.is_dict()) {
    std::vector<std::pair<std::string, Value>> keys;
    keys.reserve(value.as_dict().size());
    for (const auto& entry : value.as_dict().entries()) keys.emplace_back(repr(entry.first), entry.first);
    Dict ordered;
    interpreter.budget().step(keys.size() * 32);
    std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [written, key] : keys) ordered.set(key, *value.as_dict().find(key));
    value = Value::dict(std::move(ordered));
  }
  std::string text = repr(value);
  if (text.size() > 80 && !value.is_number()) raise("TemplateRuntimeError", "the filter 'pprint' is supported only for what fits one line");
  return Value::data(text);
}

Value attr(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("attr", arguments, {"obj", "name"}, 2);
  charge_key(bound.text(1), interpreter.budget());
  interpreter.budget().step(bound.text(1).bytes().size() / 8);
  Value found = get_attribute(bound[0], bound.text(1).bytes());
  // Attributes alone: an item of that name does not count.
  if (bound[0].is_dict() && bound[0].as_dict().find(bound[1]) != nullptr && found.as<Function>() == nullptr) return undefined_of(bound[0], bound[1]);
  return found;
}

Value length(Interpreter&, Arguments& arguments) {
  const Bound bound("len", arguments, {"obj"}, 1);
  if (const auto* loop = bound[0].as<Loop>()) return Value::integer(static_cast<int64_t>(loop->length()));
  const auto size = length_of(bound[0]);
  if (!size) raise("TypeError", "object of type '{}' has no len()", type_name(bound[0]));
  return Value::integer(static_cast<int64_t>(*size));
}

}  // namespace

std::vector<FilterRow> value_filters() {
  return {{"abs", absolute},           {"int", to_integer},   {"float", to_float}, {"round", round_filter}, {"filesizeformat", filesizeformat},
          {"default", default_filter}, {"d", default_filter}, {"tojson", tojson},  {"pprint", pprint},      {"attr", attr},
          {"length", length},          {"count", length}};
}

}  // namespace lagoon::jinja
