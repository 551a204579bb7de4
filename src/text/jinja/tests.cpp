#include "text/jinja/tests.h"

#include "text/jinja/arguments.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/unicode.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lagoon::jinja {
namespace {

struct TestRow {
  std::string_view name;
  Test test;
};

/// A test of the operand alone.
template <bool (*holds)(const Value&)>
bool plain(Interpreter&, Arguments& arguments) {
  const Bound bound("test", arguments, {"value"}, 1);
  return holds(bound[0]);
}

template <Comparison comparison>
bool compared(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("test", arguments, {"a", "b"}, 2);
  return compare(comparison, bound[0], bound[1], interpreter.budget());
}

bool remainder_is(Interpreter& interpreter, const Value& value, const Value& divisor, int64_t expected) {
  Budget& budget = interpreter.budget();
  return equals(binary(BinaryOperator::mod, value, divisor, budget), Value::integer(expected), budget);
}

template <int64_t expected>
bool parity(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("test", arguments, {"value"}, 1);
  return remainder_is(interpreter, bound[0], Value::integer(2), expected);
}

bool divisibleby(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("test_divisibleby", arguments, {"value", "num"}, 2);
  return remainder_is(interpreter, bound[0], bound[1], 0);
}

bool sameas(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("test_sameas", arguments, {"value", "other"}, 2);
  if (bound[0].is_text()) interpreter.budget().scan(bound[0].bytes().size());
  return bound[0].same_as(bound[1]);
}

bool defined(const Value& value) { return !is_undefined(value); }
bool none(const Value& value) { return value.is_none(); }
bool boolean(const Value& value) { return value.is_boolean(); }
bool is_false(const Value& value) { return value.is_boolean() && !value.as_boolean(); }
bool is_true(const Value& value) { return value.is_boolean() && value.as_boolean(); }
bool integer(const Value& value) { return value.is_integer() && !value.is_boolean(); }
bool real(const Value& value) { return value.is_real(); }
bool string(const Value& value) { return value.is_text(); }
bool mapping(const Value& value) { return value.is_dict(); }
bool number(const Value& value) { return value.is_number(); }
bool escaped(const Value& value) { return value.is_text() && value.as_text().markup; }
bool callable(const Value& value) { return value.is_object() && value.as_object().callable(); }
bool iterable(const Value& value) { return is_iterable(value) || value.as<Loop>() != nullptr; }

bool sequence(const Value& value) {
  return value.is_text() || value.is_list() || value.is_tuple() || value.is_dict() || value.as<Range>() != nullptr || is_undefined(value);
}

template <bool (*is)(char32_t)>
bool cased(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("test", arguments, {"value"}, 1);
  const MarkedText text = str(bound[0], interpreter.budget());
  interpreter.budget().visit(text.size());
  bool found = false;
  for (size_t at = 0; at < text.size(); at += character_at(text.text(), at).length) {
    const char32_t code = character_at(text.text(), at).code;
    if (is_cased(code) && !is(code)) return false;
    found = found || is(code);
  }
  return found;
}

bool is_filter(const Value& value) { return value.is_text() && filter_exists(value.bytes()); }
bool is_test(const Value& value) { return value.is_text() && test_exists(value.bytes()); }

constexpr std::array<TestRow, 39> tests = {{
    {"odd", parity<1>},
    {"even", parity<0>},
    {"divisibleby", divisibleby},
    {"defined", plain<defined>},
    {"undefined", plain<is_undefined>},
    {"filter", plain<is_filter>},
    {"test", plain<is_test>},
    {"none", plain<none>},
    {"boolean", plain<boolean>},
    {"false", plain<is_false>},
    {"true", plain<is_true>},
    {"integer", plain<integer>},
    {"float", plain<real>},
    {"lower", cased<is_lower>},
    {"upper", cased<is_upper>},
    {"string", plain<string>},
    {"mapping", plain<mapping>},
    {"number", plain<number>},
    {"sequence", plain<sequence>},
    {"iterable", plain<iterable>},
    {"callable", plain<callable>},
    {"sameas", sameas},
    {"escaped", plain<escaped>},
    {"in", compared<Comparison::in>},
    {"==", compared<Comparison::equal>},
    {"eq", compared<Comparison::equal>},
    {"equalto", compared<Comparison::equal>},
    {"!=", compared<Comparison::not_equal>},
    {"ne", compared<Comparison::not_equal>},
    {">", compared<Comparison::greater>},
    {"gt", compared<Comparison::greater>},
    {"greaterthan", compared<Comparison::greater>},
    {"ge", compared<Comparison::greater_equal>},
    {">=", compared<Comparison::greater_equal>},
    {"<", compared<Comparison::less>},
    {"lt", compared<Comparison::less>},
    {"lessthan", compared<Comparison::less>},
    {"<=", compared<Comparison::less_equal>},
    {"le", compared<Comparison::less_equal>},
}};

}  // namespace

Test find_test(std::string_view name) {
  const auto found = std::find_if(tests.begin(), tests.end(), [&](const TestRow& row) { return row.name == name; });
  return found == tests.end() ? nullptr : found->test;
}

bool test_exists(std::string_view name) { return find_test(name) != nullptr; }

}  // namespace lagoon::jinja
