// arguments.h: matches what a call passes with the parameters of a built-in function, as Python does.
#pragma once

#include "text/jinja/objects.h"

#include <initializer_list>
#include <string_view>

namespace lagoon::jinja {

/// The arguments of one call by parameter, in the order of the parameters. One that was not passed is missing.
class Bound {
 public:
  /// @param names     all parameters in order
  /// @param required  how many of them, from the first on, must be passed
  /// @throws Raised (TypeError) for too many, unknown, repeated or absent arguments
  Bound(std::string_view function, Arguments& arguments, std::initializer_list<std::string_view> names, size_t required);

  const Value& operator[](size_t index) const { return values_[index]; }
  bool has(size_t index) const { return !values_[index].is_missing(); }
  bool is_none(size_t index) const { return values_[index].is_missing() || values_[index].is_none(); }

  bool flag(size_t index, bool otherwise = false) const { return has(index) ? truth(values_[index]) : otherwise; }
  /// An index or count. @throws Raised (TypeError) where it is no integer, (OverflowError) past 64 bits
  int64_t integer(size_t index, int64_t otherwise) const;
  /// A string. @throws Raised (TypeError)
  const Value& text(size_t index) const;

 private:
  std::string_view function_;
  std::vector<Value> values_;
};

/// operator.index(value). @throws Raised (TypeError, OverflowError)
int64_t to_index(const Value& value);

}  // namespace lagoon::jinja
