#include "text/jinja/attributes.h"
#include "text/jinja/interpreter_guards.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_repr.h"

#include <utility>

namespace lagoon::jinja {

Value Interpreter::evaluate(const Expression& expression, const ScopePointer& scope) {
  budget_.step();
  try {
    const Depth depth(*this);
    Value value = evaluate_node(expression, scope);
    if (value.fresh()) budget_.produced(value.own_bytes());
    return value;
  } catch (Raised& raised) {
    if (raised.place.line == 0) raised.place = place_of(tree_->name, tree_->source, expression.offset);
    throw;
  }
}

Value Interpreter::evaluate_node(const Expression& expression, const ScopePointer& scope) {
  const auto compute_node = [&] { return std::visit([&](const auto& node) { return compute(node, scope); }, expression.node); };
  const bool printing = std::exchange(printing_, false);
  const bool inside = std::exchange(folding_, expression.constant);
  Value value = compute_node();
  folding_ = false;
  // Jinja2 keeps what it folded only where the result can be written down, or goes straight into the text.
  if (expression.constant && !inside && !printing && is_undefined(value)) value = compute_node();
  folding_ = inside;  // after an error the render is over
  return value;
}

Value Interpreter::compute(const ConstantExpression& node, const ScopePointer&) { return node.value; }

Value Interpreter::compute(const NameExpression& node, const ScopePointer& scope) {
  const Value& value = slot(node.slot, scope);
  return value.is_missing() ? undefined_name(node.name) : value;
}

Value Interpreter::compute(const NamespaceTarget&, const ScopePointer&) { raise("TemplateSyntaxError", "a namespace member is no value here"); }

Value Interpreter::compute(const ListExpression& node, const ScopePointer& scope) {
  std::vector<Value> items;
  items.reserve(node.items.size());
  for (const auto& item : node.items) items.push_back(evaluate(*item, scope));
  return Value::list(std::move(items));
}

Value Interpreter::compute(const TupleExpression& node, const ScopePointer& scope) {
  std::vector<Value> items;
  items.reserve(node.items.size());
  for (const auto& item : node.items) items.push_back(evaluate(*item, scope));
  return Value::tuple(std::move(items));
}

Value Interpreter::compute(const DictExpression& node, const ScopePointer& scope) {
  Dict dict;
  for (const auto& [key, value] : node.entries) {
    Value evaluated_key = evaluate(*key, scope);
    charge_key(evaluated_key, budget_);
    dict.set(std::move(evaluated_key), evaluate(*value, scope));
  }
  return Value::dict(std::move(dict));
}

Value Interpreter::compute(const AttributeExpression& node, const ScopePointer& scope) {
  const Value object = evaluate(*node.object, scope);
  if (object.as<Loop>() != nullptr) {
    Value method = loop_method(object, node.name);
    if (!method.is_missing()) return method;
  }
  return get_attribute(object, node.name);
}

Value Interpreter::compute(const ItemExpression& node, const ScopePointer& scope) {
  const bool constant = folding_;
  const Value object = evaluate(*node.object, scope);
  const auto* part = std::get_if<SliceExpression>(&node.index->node);
  if (object.is_text() && !object.as_text().ascii()) budget_.scan(object.bytes().size());  // its characters are counted
  if (part == nullptr) {
    const Value index = evaluate(*node.index, scope);
    if (object.is_dict() || index.is_text()) charge_key(index, budget_);
    return get_item(object, index);
  }
  const auto bound = [&](const ExpressionPointer& expression) { return expression ? evaluate(*expression, scope) : Value(); };
  const Value begin = bound(part->begin);
  const Value end = bound(part->end);
  const Value step = bound(part->step);
  if (object.is_text() && !step.is_missing()) budget_.visit(object.bytes().size());  // the place of each character is noted
  const bool sliceable = object.is_text() || object.is_list() || object.is_tuple() || object.as<Range>() != nullptr;
  if (!sliceable && constant) return undefined_of(object, Value::none());
  return slice(object, begin, end, step);
}

Value Interpreter::compute(const SliceExpression&, const ScopePointer&) { raise("TypeError", "unhashable type: 'slice'"); }

Value Interpreter::compute(const CallExpression& node, const ScopePointer& scope) {
  const Value callee = evaluate(*node.callee, scope);
  Arguments arguments = evaluate_arguments(node.arguments, scope);
  return call(callee, arguments);
}

Value Interpreter::compute(const FilterExpression& node, const ScopePointer& scope) {
  Value operand = evaluate(*node.operand, scope);
  Arguments arguments = evaluate_arguments(node.arguments, scope);
  arguments.values.insert(arguments.values.begin(), std::move(operand));
  return call_filter(node.name, arguments);
}

Value Interpreter::compute(const TestExpression& node, const ScopePointer& scope) {
  Value operand = evaluate(*node.operand, scope);
  Arguments arguments = evaluate_arguments(node.arguments, scope);
  arguments.values.insert(arguments.values.begin(), std::move(operand));
  return Value::boolean(call_test(node.name, arguments));
}

Value Interpreter::compute(const UnaryExpression& node, const ScopePointer& scope) { return unary(node.operation, evaluate(*node.operand, scope)); }

Value Interpreter::compute(const BinaryExpression& node, const ScopePointer& scope) {
  const Value left = evaluate(*node.left, scope);
  const Value right = evaluate(*node.right, scope);
  return binary(node.operation, left, right, budget_);
}

Value Interpreter::compute(const LogicExpression& node, const ScopePointer& scope) {
  Value left = evaluate(*node.left, scope);
  return truth(left) == node.conjunction ? evaluate(*node.right, scope) : left;
}

Value Interpreter::compute(const CompareExpression& node, const ScopePointer& scope) {
  Value left = evaluate(*node.first, scope);
  for (const auto& [comparison, operand] : node.rest) {
    Value right = evaluate(*operand, scope);
    if (!compare(comparison, left, right, budget_)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::compute(const ConcatExpression& node, const ScopePointer& scope) {
  std::vector<Value> parts;
  parts.reserve(node.parts.size());
  for (const auto& part : node.parts) parts.push_back(evaluate(*part, scope));
  MarkedText text;
  for (const Value& part : parts) {
    if (part.is_text()) {
      text.append(part.marked());
    } else {
      text.append(str(part, budget_));
    }
    budget_.text(text.size());
  }
  return Value::text(std::move(text));
}

Value Interpreter::compute(const ConditionalExpression& node, const ScopePointer& scope) {
  if (truth(evaluate(*node.condition, scope))) return evaluate(*node.then, scope);
  if (node.otherwise) return evaluate(*node.otherwise, scope);
  return undefined("the inline if-expression evaluated to false and no else section was defined.");
}

}  // namespace lagoon::jinja
