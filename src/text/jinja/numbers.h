// numbers.h: Python's arithmetic on int (without limit), bool and float.
#pragma once

#include "text/jinja/ast.h"
#include "text/jinja/limits.h"
#include "text/jinja/value.h"

#include <optional>
#include <string_view>

namespace lagoon::jinja {

/// left OP right for two numbers. @throws Raised (ZeroDivisionError, OverflowError, LimitError)
Value arithmetic(BinaryOperator operation, const Value& left, const Value& right, Budget& budget);

Value negated(const Value& number);

/// float(int), correctly rounded. @throws Raised (OverflowError)
double to_real(const Value& number);

/// -1, 0 or 1; nothing where one of them is not a number (NaN).
std::optional<int> compare_numbers(const Value& left, const Value& right);

/// int(text, base) and float(text) as Python reads them, white space and underscores included; nothing where it is refused.
std::optional<mpz_class> parse_integer(std::string_view text, int base);
std::optional<double> parse_real(std::string_view text);

/// round(number, digits): half to even for halves that are exact; the type stays.
Value rounded(const Value& number, int64_t digits);

/// int(float). @throws Raised (ValueError for NaN, OverflowError for infinity)
Value truncated(double value);

}  // namespace lagoon::jinja
