// python_repr.h: how Python prints values: repr and str.
#pragma once

#include "text/jinja/value.h"

#include <string>
#include <string_view>

namespace lagoon::jinja {

class Budget;

/// repr(float): the shortest digits that read back as the same number; 1e+16, 1e-05, 1.0, -0.0, inf, nan.
std::string repr_of_real(double value);

/// repr(str): single quotes unless the text holds some and no double ones.
std::string repr_of_text(std::string_view text);

/// repr(value). @throws Raised (RecursionError, LimitError)
std::string repr(const Value& value);

/// str(value): a string as it is with its marks, an undefined value as nothing, all else its repr as data.
MarkedText str(const Value& value);

/// Takes the steps of writing a value down, all that it holds included.
void charge_repr(const Value& value, Budget& budget);
/// repr and str, charged first: a value that is no string is written down anew each time.
std::string repr(const Value& value, Budget& budget);
MarkedText str(const Value& value, Budget& budget);

/// Shortest digits of a finite double >= 0: value = 0.DIGITS * 10^exponent. For 0: "0" and 1.
struct Decimal {
  std::string digits;
  int exponent;
};
Decimal shortest_decimal(double value);

}  // namespace lagoon::jinja
