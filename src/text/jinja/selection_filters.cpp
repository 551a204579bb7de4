// The filters map, select, reject, selectattr and rejectattr, which are lazy: what is wrong with them shows when they are
// walked.
#include "text/jinja/arguments.h"
#include "text/jinja/attribute_path.h"
#include "text/jinja/attributes.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/text_operations.h"

#include <algorithm>

namespace lagoon::jinja {
namespace {

/// A lazy sequence over `source`; `take` changes an item in place and says whether it stays. A source that is false, such as
/// none, counts as empty.
Value lazy(Interpreter& interpreter, const Value& source, const std::function<bool(Value&)>& take) {
  const auto iterator = std::make_shared<std::optional<Iterator>>();
  const auto next = [&interpreter, source, iterator, take](Value& item) {
    if (!*iterator) {
      if (!truth(source)) return false;
      iterator->emplace(source);
    }
    while ((*iterator)->next(item)) {
      interpreter.budget().step();
      if (take(item)) return true;
    }
    return false;
  };
  return Value::object(std::make_shared<Generator>(source, next));
}

/// The item, then all arguments but the first `skip`.
Arguments with_item(const Value& item, const Arguments& arguments, size_t skip) {
  Arguments out;
  out.values.push_back(item);
  out.values.insert(out.values.end(), arguments.values.begin() + static_cast<std::ptrdiff_t>(skip), arguments.values.end());
  out.named = arguments.named;
  return out;
}

const std::string& name_in(const Value& value) {
  if (!value.is_text()) raise("TemplateRuntimeError", "No filter or test named {}.", repr(value));
  return value.bytes();
}

Value source_of(std::string_view name, const Arguments& arguments) {
  if (arguments.values.empty()) raise("TypeError", "{}() missing a required argument: 'value'", name);
  return arguments.values[0];
}

Value map_attribute(Interpreter& interpreter, const Value& source, const Arguments& arguments) {
  Value attribute;
  Value otherwise;
  for (const auto& [name, value] : arguments.named) {
    if (name == "attribute") {
      attribute = value;
    } else if (name == "default") {
      otherwise = value;
    } else {
      const std::string unexpected = repr_of_text(name);
      return lazy(interpreter, source, [unexpected](Value&) -> bool { raise("FilterArgumentError", "Unexpected keyword argument {}", unexpected); });
    }
  }
  const AttributePath path(attribute, interpreter.budget());
  return lazy(interpreter, source, [&interpreter, path, otherwise](Value& item) {
    item = path.of(interpreter.budget(), item, otherwise);
    return true;
  });
}

Value map(Interpreter& interpreter, Arguments& arguments) {
  const Value source = source_of("map", arguments);
  const bool by_attribute = std::any_of(arguments.named.begin(), arguments.named.end(), [](const auto& named) { return named.first == "attribute"; });
  if (arguments.values.size() == 1 && by_attribute) return map_attribute(interpreter, source, arguments);
  const Arguments given = arguments;
  return lazy(interpreter, source, [&interpreter, given](Value& item) {
    if (given.values.size() < 2) raise("FilterArgumentError", "map requires a filter argument");
    interpreter.budget().step(given.values.size() + given.named.size());
    Arguments call = with_item(item, given, 2);
    item = interpreter.call_filter(name_in(given.values[1]), call);
    if (item.fresh()) interpreter.budget().produced(item.own_bytes());
    return true;
  });
}

Value selected(std::string_view name, Interpreter& interpreter, Arguments& arguments, bool by_attribute, bool wanted) {
  const Value source = source_of(name, arguments);
  const Arguments given = arguments;
  const size_t test_at = by_attribute ? 2 : 1;
  return lazy(interpreter, source, [&interpreter, given, by_attribute, wanted, test_at](Value& item) {
    if (by_attribute && given.values.size() < 2) raise("FilterArgumentError", "Missing parameter for attribute name");
    const Value tested = by_attribute ? AttributePath(given.values[1], interpreter.budget()).of(interpreter.budget(), item) : item;
    if (given.values.size() <= test_at) return truth(tested) == wanted;
    interpreter.budget().step(given.values.size() + given.named.size());
    Arguments call = with_item(tested, given, test_at + 1);
    return interpreter.call_test(name_in(given.values[test_at]), call) == wanted;
  });
}

Value select(Interpreter& interpreter, Arguments& arguments) { return selected("select", interpreter, arguments, false, true); }
Value reject(Interpreter& interpreter, Arguments& arguments) { return selected("reject", interpreter, arguments, false, false); }
Value selectattr(Interpreter& interpreter, Arguments& arguments) { return selected("selectattr", interpreter, arguments, true, true); }
Value rejectattr(Interpreter& interpreter, Arguments& arguments) { return selected("rejectattr", interpreter, arguments, true, false); }

}  // namespace

AttributePath::AttributePath(const Value& attribute, Budget& budget) {
  if (attribute.is_missing() || attribute.is_none()) return;
  if (!attribute.is_text()) {
    parts_.push_back(attribute);
    return;
  }
  budget.step(attribute.bytes().size());
  for (MarkedText& part : split(attribute.marked(), ".", -1)) {
    const std::string& text = part.text();
    const bool number = !text.empty() && text.size() < 18 && text.find_first_not_of("0123456789") == std::string::npos;
    parts_.push_back(number ? Value::integer(std::stoll(text)) : Value::text(std::move(part)));
  }
}

Value AttributePath::of(Budget& budget, Value item, const Value& otherwise) const {
  for (const Value& part : parts_) {
    charge_key(part, budget);
    if (item.is_text() && !item.as_text().ascii()) budget.scan(item.bytes().size());  // its characters are counted
    item = get_item(item, part);
    if (is_undefined(item) && !otherwise.is_missing() && !otherwise.is_none()) item = otherwise;
  }
  return item;
}

Value ignore_case(const Value& item, Budget& budget) {
  if (!item.is_text()) return item;
  budget.step(item.bytes().size() / 4 + 1);  // slower than a search
  budget.produced(item.own_bytes());
  return Value::text(lower(item.marked()));
}

std::vector<FilterRow> selection_filters() {
  return {{"map", map}, {"select", select}, {"reject", reject}, {"selectattr", selectattr}, {"rejectattr", rejectattr}};
}

}  // namespace lagoon::jinja
