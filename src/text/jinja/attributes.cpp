#include "text/jinja/attributes.h"

#include "text/jinja/template_error.h"
#include "text/jinja/text_operations.h"

#include <algorithm>
#include <array>

namespace lagoon::jinja {
namespace {

// What every Python object has, and what the containers add: asking for it is unsafe, where anything else is merely absent.
constexpr std::array<std::string_view, 24> object_attributes = {
    "__class__",  "__delattr__",   "__dir__",  "__doc__",           "__eq__",     "__format__", "__ge__",           "__getattribute__",
    "__gt__",     "__hash__",      "__init__", "__init_subclass__", "__le__",     "__lt__",     "__ne__",           "__new__",
    "__reduce__", "__reduce_ex__", "__repr__", "__setattr__",       "__sizeof__", "__str__",    "__subclasshook__", "__getstate__"};
constexpr std::array<std::string_view, 5> container_attributes = {"__len__", "__contains__", "__getitem__", "__iter__", "__class_getitem__"};
constexpr std::array<std::string_view, 8> list_changers = {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"};
constexpr std::array<std::string_view, 5> dict_changers = {"clear", "pop", "popitem", "setdefault", "update"};

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_underscore_attribute(const Value& object, std::string_view name) {
  if (is_one_of(object_attributes, name)) return true;
  const bool container = object.is_text() || object.is_list() || object.is_tuple() || object.is_dict();
  return container && is_one_of(container_attributes, name);
}

Value bound_method(const Value& self, std::string_view name, Method method) {
  const Function::Body body = [self, method](Interpreter& interpreter, Arguments& arguments) { return method(interpreter, self, arguments); };
  auto function = std::make_shared<Function>(std::string(name), body, fmt::format("<built-in method {} of {} object>", name, type_name(self)));
  function->bind(self);
  return Value::object(std::move(function));
}

Method find_method(const Value& object, std::string_view name) {
  if (object.is_text()) {
    const Method method = find_text_method(name);
    return method != nullptr ? method : find_text_form_method(name);
  }
  if (object.is_number()) return find_number_method(object, name);
  return find_container_method(object, name);
}

/// getattr(object, name), or missing where there is no such attribute.
Value attribute_of(const Value& object, const std::string& name) {
  if (!name.empty() && name[0] == '_') return has_underscore_attribute(object, name) ? unsafe_attribute(object, name) : Value();
  if (object.is_object()) {
    Value found = object.as_object().attribute(name);
    if (!found.is_missing()) return found;
  }
  if (object.is_group() && name == "grouper") return object.items()[0];
  if (object.is_group() && name == "list") return object.items()[1];
  if ((object.is_list() && is_one_of(list_changers, name)) || (object.is_dict() && is_one_of(dict_changers, name))) {
    return unsafe_attribute(object, name);
  }
  if (object.is_number()) {
    if (name == "real" || (object.is_integer() && name == "numerator")) return object.is_boolean() ? Value::integer(object.as_mpz()) : object;
    if (name == "imag") return object.is_real() ? Value::real(0) : Value::integer(0);
    if (object.is_integer() && name == "denominator") return Value::integer(1);
  }
  const Method method = find_method(object, name);
  return method == nullptr ? Value() : bound_method(object, name, method);
}

/// object[item], or missing where Python raises TypeError or LookupError.
Value item_of(const Value& object, const Value& item) {
  if (object.is_dict()) {
    if (item.is_list() || item.is_dict()) return {};
    const Value* found = nullptr;
    try {
      found = object.as_dict().find(item);
    } catch (const Raised&) {  // a key that cannot be hashed is a TypeError, which means undefined here
      return {};
    }
    return found == nullptr ? Value() : *found;
  }
  if (!item.is_integer()) return {};
  const auto* range = object.as<Range>();
  const bool sequence = object.is_text() || object.is_list() || object.is_tuple() || range != nullptr;
  const auto index = item.as_small();
  if (!sequence || !index) return {};
  const auto size = static_cast<int64_t>(*length_of(object));
  const int64_t at = *index < 0 ? *index + size : *index;
  if (at < 0 || at >= size) return {};
  if (range != nullptr) return Value::integer(range->at(at));
  if (!object.is_text()) return object.items()[static_cast<size_t>(at)];
  return Value::text(character_of(object.as_text(), static_cast<size_t>(at)));
}

}  // namespace

Value get_attribute(const Value& object, const std::string& name) {
  require_defined(object);
  Value found = attribute_of(object, name);
  if (!found.is_missing()) return found;
  const Value key = Value::text(name, Origin::from_template);
  found = item_of(object, key);
  return found.is_missing() ? undefined_of(object, key) : found;
}

Value get_item(const Value& object, const Value& item) {
  require_defined(object);
  Value found = item_of(object, item);
  if (found.is_missing() && item.is_text()) found = attribute_of(object, item.bytes());
  return found.is_missing() ? undefined_of(object, item) : found;
}

}  // namespace lagoon::jinja
