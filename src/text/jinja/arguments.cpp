#include "text/jinja/arguments.h"

#include "text/jinja/template_error.h"

#include <algorithm>

namespace lagoon::jinja {

Bound::Bound(std::string_view function, Arguments& arguments, std::initializer_list<std::string_view> names, size_t required)
    : function_(function), values_(names.size()) {
  if (arguments.values.size() > names.size()) {
    raise("TypeError", "{}() takes at most {} arguments ({} given)", function, names.size(), arguments.values.size());
  }
  for (size_t i = 0; i < arguments.values.size(); ++i) values_[i] = arguments.values[i];
  for (auto& [name, value] : arguments.named) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) raise("TypeError", "{}() got an unexpected keyword argument '{}'", function, name);
    Value& slot = values_[static_cast<size_t>(at - names.begin())];
    if (!slot.is_missing()) raise("TypeError", "{}() got multiple values for argument '{}'", function, name);
    slot = value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (values_[i].is_missing()) raise("TypeError", "{}() missing a required argument: '{}'", function, *(names.begin() + i));
  }
}

int64_t Bound::integer(size_t index, int64_t otherwise) const { return has(index) ? to_index(values_[index]) : otherwise; }

const Value& Bound::text(size_t index) const {
  if (!values_[index].is_text()) {
    raise("TypeError", "{}() argument {} must be str, not {}", function_, index + 1, type_name(values_[index]));
  }
  return values_[index];
}

int64_t to_index(const Value& value) {
  if (!value.is_integer()) raise("TypeError", "'{}' object cannot be interpreted as an integer", type_name(value));
  const auto small = value.as_small();
  if (!small) raise("OverflowError", "Python int too large to convert to C ssize_t");
  return *small;
}

}  // namespace lagoon::jinja
