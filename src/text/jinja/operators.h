// operators.h: the operators of the template language on any values, with Python's results and errors.
#pragma once

#include "text/jinja/ast.h"
#include "text/jinja/limits.h"
#include "text/jinja/value.h"

#include <optional>
#include <vector>

namespace lagoon::jinja {

/// left OP right. @throws Raised (TypeError, UndefinedError, ZeroDivisionError, ...)
Value binary(BinaryOperator operation, const Value& left, const Value& right, Budget& budget);
Value unary(UnaryOperator operation, const Value& operand);

/// Comparing takes a step for each pair of values looked at, those inside others included, and more for long texts; all of
/// these raise LimitError where the steps run out.
bool compare(Comparison comparison, const Value& left, const Value& right, Budget& budget);
/// left == right. Raises nothing else.
bool equals(const Value& left, const Value& right, Budget& budget);
/// left < right, for sorting and the filters min and max. @throws Raised (TypeError)
bool less(const Value& left, const Value& right, Budget& budget);
/// item in container
bool contains(const Value& container, const Value& item, Budget& budget);
/// Takes the steps of looking up `key` in a mapping.
void charge_key(const Value& key, Budget& budget);

/// Python's object[begin:end:step]; missing or none stands for absent. @throws Raised
Value slice(const Value& object, const Value& begin, const Value& end, const Value& step);

/// Stable sort by `keys` (one per item), as sorted(). @throws Raised (TypeError)
std::vector<Value> sorted(std::vector<Value> items, const std::vector<Value>& keys, bool reverse, Budget& budget);

}  // namespace lagoon::jinja
