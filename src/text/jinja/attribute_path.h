// attribute_path.h: the `attribute` argument of filters: 'a.b.0' walks from an item to what it is compared by.
#pragma once

#include "text/jinja/limits.h"
#include "text/jinja/value.h"

#include <vector>

namespace lagoon::jinja {

class AttributePath {
 public:
  /// @param attribute  missing or none for the item itself; text with dots; or a number
  AttributePath(const Value& attribute, Budget& budget);
  /// @param otherwise  stands in for what is undefined, unless missing or none
  Value of(Budget& budget, Value item, const Value& otherwise = Value()) const;

 private:
  std::vector<Value> parts_;
};

/// The item in lower case where it is text: what sorting goes by, unless it is told to mind the case.
Value ignore_case(const Value& item, Budget& budget);

}  // namespace lagoon::jinja
