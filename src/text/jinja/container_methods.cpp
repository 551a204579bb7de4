// Methods of dict, list, tuple, int and float.
#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/template_error.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lagoon::jinja {
namespace {

template <DictView::Part part>
Value view(Interpreter&, const Value& self, Arguments& arguments) {
  const Bound bound("dict method", arguments, {}, 0);
  return Value::object(std::make_shared<DictView>(self, part));
}

Value get(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("get", arguments, {"key", "default"}, 1);
  charge_key(bound[0], interpreter.budget());
  const Value* found = self.as_dict().find(bound[0]);
  if (found != nullptr) return *found;
  return bound.has(1) ? bound[1] : Value::none();
}

/// Values never change, so a copy is the value.
Value copy(Interpreter&, const Value& self, Arguments& arguments) {
  const Bound bound("copy", arguments, {}, 0);
  return self;
}

Value fromkeys(Interpreter& interpreter, const Value&, Arguments& arguments) {
  const Bound bound("fromkeys", arguments, {"iterable", "value"}, 1);
  Dict out;
  for (const Value& key : to_vector(bound[0])) {
    charge_key(key, interpreter.budget());
    out.set(key, bound.has(1) ? bound[1] : Value::none());
  }
  return Value::dict(std::move(out));
}

Value index(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("index", arguments, {"value", "start", "stop"}, 1);
  const std::vector<Value> items = to_vector(self);
  interpreter.budget().step(items.size());
  const auto size = static_cast<int64_t>(items.size());
  const auto clamp = [&](int64_t at) { return at < 0 ? std::max<int64_t>(at + size, 0) : std::min(at, size); };
  const int64_t stop = clamp(bound.integer(2, size));
  for (int64_t at = clamp(bound.integer(1, 0)); at < stop; ++at) {
    if (equals(items[static_cast<size_t>(at)], bound[0], interpreter.budget())) return Value::integer(at);
  }
  if (self.is_tuple()) raise("ValueError", "tuple.index(x): x not in tuple");
  if (self.is_object()) raise("ValueError", "{} is not in range", repr(bound[0]));
  raise("ValueError", "{} is not in list", repr(bound[0]));
}

Value count(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("count", arguments, {"value"}, 1);
  const std::vector<Value> items = to_vector(self);
  interpreter.budget().step(items.size());
  return Value::integer(std::count_if(items.begin(), items.end(), [&](const Value& item) { return equals(item, bound[0], interpreter.budget()); }));
}

Value bit_length(Interpreter&, const Value& self, Arguments& arguments) {
  const Bound bound("bit_length", arguments, {}, 0);
  const mpz_class value = self.as_mpz();
  return Value::integer(value == 0 ? 0 : static_cast<int64_t>(mpz_sizeinbase(value.get_mpz_t(), 2)));
}

Value bit_count(Interpreter&, const Value& self, Arguments& arguments) {
  const Bound bound("bit_count", arguments, {}, 0);
  const mpz_class value = abs(self.as_mpz());
  return Value::integer(static_cast<int64_t>(mpz_popcount(value.get_mpz_t())));
}

Value is_integer(Interpreter&, const Value& self, Arguments& arguments) {
  const Bound bound("is_integer", arguments, {}, 0);
  return Value::boolean(std::isfinite(self.as_real()) && std::floor(self.as_real()) == self.as_real());
}

constexpr std::array<MethodRow, 6> dict_methods = {{
    {"items", view<DictView::Part::items>},
    {"keys", view<DictView::Part::keys>},
    {"values", view<DictView::Part::values>},
    {"get", get},
    {"copy", copy},
    {"fromkeys", fromkeys},
}};
constexpr std::array<MethodRow, 3> list_methods = {{{"index", index}, {"count", count}, {"copy", copy}}};
// Of tuples and ranges.
constexpr std::array<MethodRow, 2> tuple_methods = {{{"index", index}, {"count", count}}};
constexpr std::array<MethodRow, 2> integer_methods = {{{"bit_length", bit_length}, {"bit_count", bit_count}}};
constexpr std::array<MethodRow, 1> real_methods = {{{"is_integer", is_integer}}};

template <size_t N>
Method find_in(const std::array<MethodRow, N>& rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const MethodRow& row) { return row.name == name; });
  return found == rows.end() ? nullptr : found->method;
}

}  // namespace

Method find_container_method(const Value& self, std::string_view name) {
  if (self.is_dict()) return find_in(dict_methods, name);
  if (self.is_list()) return find_in(list_methods, name);
  return self.is_tuple() || self.as<Range>() != nullptr ? find_in(tuple_methods, name) : nullptr;
}

Method find_number_method(const Value& self, std::string_view name) {
  return self.is_real() ? find_in(real_methods, name) : find_in(integer_methods, name);
}

}  // namespace lagoon::jinja
