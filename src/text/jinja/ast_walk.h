// ast_walk.h: the children of an expression, whatever it is.
#pragma once

#include "text/jinja/ast.h"

namespace lagoon::jinja {

/// Calls `visit(Expression&)` for each argument in the order written.
template <typename Visit>
void for_each_argument(const CallArguments& arguments, Visit&& visit) {
  for (const auto& value : arguments.values) visit(*value);
  for (const auto& named : arguments.named) visit(*named.second);
  if (arguments.spread_values) visit(*arguments.spread_values);
  if (arguments.spread_named) visit(*arguments.spread_named);
}

/// Calls `visit(Expression&)` for each child of a node in the order written.
template <typename Visit>
class ChildVisitor {
 public:
  explicit ChildVisitor(Visit& visit) : visit_(visit) {}

  void operator()(const ConstantExpression&) const {}
  void operator()(const NameExpression&) const {}
  void operator()(const NamespaceTarget&) const {}
  void operator()(const ListExpression& node) const { each(node.items); }
  void operator()(const TupleExpression& node) const { each(node.items); }
  void operator()(const DictExpression& node) const {
    for (const auto& entry : node.entries) each(entry.first, entry.second);
  }
  void operator()(const AttributeExpression& node) const { each(node.object); }
  void operator()(const ItemExpression& node) const { each(node.object, node.index); }
  void operator()(const SliceExpression& node) const { each(node.begin, node.end, node.step); }
  void operator()(const CallExpression& node) const {
    each(node.callee);
    for_each_argument(node.arguments, visit_);
  }
  void operator()(const FilterExpression& node) const {
    each(node.operand);
    for_each_argument(node.arguments, visit_);
  }
  void operator()(const TestExpression& node) const {
    each(node.operand);
    for_each_argument(node.arguments, visit_);
  }
  void operator()(const UnaryExpression& node) const { each(node.operand); }
  void operator()(const BinaryExpression& node) const { each(node.left, node.right); }
  void operator()(const LogicExpression& node) const { each(node.left, node.right); }
  void operator()(const CompareExpression& node) const {
    each(node.first);
    for (const auto& operand : node.rest) each(operand.second);
  }
  void operator()(const ConcatExpression& node) const { each(node.parts); }
  void operator()(const ConditionalExpression& node) const { each(node.condition, node.then, node.otherwise); }

 private:
  void each(const ExpressionPointer& child) const {
    if (child) visit_(*child);
  }
  void each(const std::vector<ExpressionPointer>& children) const {
    for (const ExpressionPointer& child : children) each(child);
  }
  template <typename... Rest>
  void each(const ExpressionPointer& first, const ExpressionPointer& second, const Rest&... rest) const {
    each(first);
    each(second, rest...);
  }

  Visit& visit_;
};

template <typename Visit>
void for_each_child(const Expression& expression, Visit&& visit) {
  std::visit(ChildVisitor<std::remove_reference_t<Visit>>(visit), expression.node);
}

}  // namespace lagoon::jinja
