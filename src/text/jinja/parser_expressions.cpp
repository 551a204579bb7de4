#include "text/jinja/ast_walk.h"
#include "text/jinja/limits.h"
#include "text/jinja/parser_state.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/template_error.h"

#include <algorithm>
#include <optional>

namespace lagoon::jinja {
namespace {

std::optional<Comparison> comparison_of(TokenType type) {
  switch (type) {
    case TokenType::equal:
      return Comparison::equal;
    case TokenType::not_equal:
      return Comparison::not_equal;
    case TokenType::less:
      return Comparison::less;
    case TokenType::less_equal:
      return Comparison::less_equal;
    case TokenType::greater:
      return Comparison::greater;
    case TokenType::greater_equal:
      return Comparison::greater_equal;
    default:
      return std::nullopt;
  }
}

std::optional<BinaryOperator> product_of(TokenType type) {
  switch (type) {
    case TokenType::mul:
      return BinaryOperator::mul;
    case TokenType::div:
      return BinaryOperator::div;
    case TokenType::floordiv:
      return BinaryOperator::floordiv;
    case TokenType::mod:
      return BinaryOperator::mod;
    default:
      return std::nullopt;
  }
}

}  // namespace

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
  if (++parser.nesting_ > source_depth_limit) {
    --parser.nesting_;
    parser.fail(parser.current().offset, fmt::format("the template is nested more than {} deep", source_depth_limit));
  }
}

/// Depth and constancy. A chain such as a + b + c is as deep as it is long: the tree leans to the left.
void Parser::measure(Expression& expression) const {
  constexpr int limit = source_depth_limit * 4;
  const auto& node = expression.node;
  expression.constant = !std::holds_alternative<NameExpression>(node) && !std::holds_alternative<NamespaceTarget>(node) &&
                        !std::holds_alternative<CallExpression>(node);
  if (const auto* filter = std::get_if<FilterExpression>(&node)) {
    for (const char* needs_context : {"map", "select", "reject", "selectattr", "rejectattr", "random"}) {
      if (filter->name == needs_context) expression.constant = false;
    }
  }
  for_each_child(expression, [&](const Expression& child) {
    expression.depth = std::max(expression.depth, child.depth + 1);
    expression.constant = expression.constant && child.constant;
  });
  if (expression.depth > limit) fail(expression.offset, fmt::format("an expression is nested more than {} deep", limit));
}

const Token& Parser::next() {
  const Token& token = tokens_[at_];
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::skip_if(TokenType type) {
  if (!is(type)) return false;
  next();
  return true;
}

bool Parser::skip_if_name(std::string_view name) {
  if (!is_name(name)) return false;
  next();
  return true;
}

const Token& Parser::expect(TokenType type) {
  if (is(type)) return next();
  if (is(TokenType::end_of_file)) fail(current().offset, fmt::format("unexpected end of template, expected '{}'.", describe(type)));
  fail(current().offset, fmt::format("expected token '{}', got {}", describe(type), repr_of_text(describe(current()))));
}

const Token& Parser::expect_name(std::string_view name) {
  if (is_name(name)) return next();
  if (is(TokenType::end_of_file)) fail(current().offset, fmt::format("unexpected end of template, expected '{}'.", name));
  fail(current().offset, fmt::format("expected token '{}', got {}", name, repr_of_text(describe(current()))));
}

void Parser::fail(size_t offset, const std::string& message, const char* error_class) const {
  throw Raised{error_class, message, place_of("", source_, offset)};
}

ExpressionPointer Parser::parse_expression(bool with_condition) { return with_condition ? parse_condition() : parse_or(); }

ExpressionPointer Parser::parse_condition() {
  const Nesting nesting(*this);
  const uint32_t offset = current().offset;
  ExpressionPointer value = parse_or();
  while (skip_if_name("if")) {
    ConditionalExpression node;
    node.then = std::move(value);
    node.condition = parse_or();
    if (skip_if_name("else")) node.otherwise = parse_condition();
    value = make(offset, std::move(node));
  }
  return value;
}

ExpressionPointer Parser::parse_or() {
  const Nesting nesting(*this);  // also where no condition may stand: the head of a for and of an if
  const uint32_t offset = current().offset;
  ExpressionPointer left = parse_and();
  while (skip_if_name("or")) {
    ExpressionPointer right = parse_and();
    left = make(offset, LogicExpression{false, std::move(left), std::move(right)});
  }
  return left;
}

ExpressionPointer Parser::parse_and() {
  const uint32_t offset = current().offset;
  ExpressionPointer left = parse_not();
  while (skip_if_name("and")) {
    ExpressionPointer right = parse_not();
    left = make(offset, LogicExpression{true, std::move(left), std::move(right)});
  }
  return left;
}

ExpressionPointer Parser::parse_not() {
  if (!is_name("not")) return parse_compare();
  const Nesting nesting(*this);
  const uint32_t offset = next().offset;
  return make(offset, UnaryExpression{UnaryOperator::negation, parse_not()});
}

ExpressionPointer Parser::parse_compare() {
  const uint32_t offset = current().offset;
  CompareExpression node;
  node.first = parse_sum();
  while (true) {
    if (const auto comparison = comparison_of(current().type)) {
      next();
      node.rest.emplace_back(*comparison, parse_sum());
    } else if (skip_if_name("in")) {
      node.rest.emplace_back(Comparison::in, parse_sum());
    } else if (is_name("not") && look().type == TokenType::name && look().text == "in") {
      next();
      next();
      node.rest.emplace_back(Comparison::not_in, parse_sum());
    } else {
      break;
    }
  }
  if (node.rest.empty()) return std::move(node.first);
  return make(offset, std::move(node));
}

ExpressionPointer Parser::parse_sum() {
  ExpressionPointer left = parse_concat();
  while (is(TokenType::add) || is(TokenType::sub)) {
    const Token& token = next();
    const BinaryOperator operation = token.type == TokenType::add ? BinaryOperator::add : BinaryOperator::sub;
    ExpressionPointer right = parse_concat();
    left = make(token.offset, BinaryExpression{operation, std::move(left), std::move(right)});
  }
  return left;
}

ExpressionPointer Parser::parse_concat() {
  const uint32_t offset = current().offset;
  ConcatExpression node;
  node.parts.push_back(parse_product());
  while (skip_if(TokenType::tilde)) node.parts.push_back(parse_product());
  if (node.parts.size() == 1) return std::move(node.parts[0]);
  return make(offset, std::move(node));
}

ExpressionPointer Parser::parse_product() {
  ExpressionPointer left = parse_power();
  while (const auto operation = product_of(current().type)) {
    const uint32_t offset = next().offset;
    ExpressionPointer right = parse_power();
    left = make(offset, BinaryExpression{*operation, std::move(left), std::move(right)});
  }
  return left;
}

ExpressionPointer Parser::parse_power() {
  ExpressionPointer left = parse_unary();
  while (is(TokenType::pow)) {
    const uint32_t offset = next().offset;
    ExpressionPointer right = parse_unary();
    left = make(offset, BinaryExpression{BinaryOperator::pow, std::move(left), std::move(right)});
  }
  return left;
}

ExpressionPointer Parser::parse_unary(bool with_filter) {
  const uint32_t offset = current().offset;
  ExpressionPointer value;
  if (is(TokenType::sub) || is(TokenType::add)) {
    const Nesting nesting(*this);
    const UnaryOperator operation = next().type == TokenType::sub ? UnaryOperator::minus : UnaryOperator::plus;
    value = make(offset, UnaryExpression{operation, parse_unary(false)});
  } else {
    value = parse_primary();
  }
  value = parse_postfix(std::move(value));
  return with_filter ? parse_filter_expression(std::move(value)) : std::move(value);
}

ExpressionPointer Parser::parse_name(bool with_namespace) {
  const Token& token = next();
  const std::string& name = token.text;
  const auto constant = [&](Value value) { return make(token.offset, ConstantExpression{std::move(value)}); };
  if (name == "true" || name == "True") return constant(Value::boolean(true));
  if (name == "false" || name == "False") return constant(Value::boolean(false));
  if (name == "none" || name == "None") return constant(Value::none());
  if (with_namespace && skip_if(TokenType::dot)) return make(token.offset, NamespaceTarget{name, expect(TokenType::name).text, {}});
  return make(token.offset, NameExpression{name, {}});
}

ExpressionPointer Parser::parse_primary(bool with_namespace) {
  const Token& token = current();
  switch (token.type) {
    case TokenType::name:
      return parse_name(with_namespace);
    case TokenType::text: {
      std::string text;
      while (is(TokenType::text)) text += next().text;
      return make(token.offset, ConstantExpression{Value::text(text, Origin::from_template)});
    }
    case TokenType::integer:
      next();
      return make(token.offset, ConstantExpression{Value::integer(token.integer)});
    case TokenType::real:
      next();
      return make(token.offset, ConstantExpression{Value::real(token.real)});
    case TokenType::left_paren: {
      next();
      ExpressionPointer value = parse_tuple({.explicit_parentheses = true});
      expect(TokenType::right_paren);
      return value;
    }
    case TokenType::left_bracket:
      return parse_list();
    case TokenType::left_brace:
      return parse_dict();
    default:
      fail(token.offset, fmt::format("unexpected {}", repr_of_text(describe(token))));
  }
}

ExpressionPointer Parser::parse_list() {
  const uint32_t offset = expect(TokenType::left_bracket).offset;
  ListExpression node;
  while (!is(TokenType::right_bracket)) {
    if (!node.items.empty()) expect(TokenType::comma);
    if (is(TokenType::right_bracket)) break;
    node.items.push_back(parse_expression());
  }
  expect(TokenType::right_bracket);
  return make(offset, std::move(node));
}

ExpressionPointer Parser::parse_dict() {
  const uint32_t offset = expect(TokenType::left_brace).offset;
  DictExpression node;
  while (!is(TokenType::right_brace)) {
    if (!node.entries.empty()) expect(TokenType::comma);
    if (is(TokenType::right_brace)) break;
    ExpressionPointer key = parse_expression();
    expect(TokenType::colon);
    node.entries.emplace_back(std::move(key), parse_expression());
  }
  expect(TokenType::right_brace);
  return make(offset, std::move(node));
}

bool Parser::is_tuple_end(std::string_view end_name) const {
  if (is(TokenType::variable_end) || is(TokenType::block_end) || is(TokenType::right_paren)) return true;
  return !end_name.empty() && is_name(end_name);
}

ExpressionPointer Parser::parse_tuple(const TupleOptions& options) {
  const uint32_t offset = current().offset;
  TupleExpression node;
  bool is_tuple = false;
  while (true) {
    if (!node.items.empty()) expect(TokenType::comma);
    if (is_tuple_end(options.end_name)) break;
    const Nesting nesting(*this);
    node.items.push_back(options.simplified ? parse_primary(options.with_namespace) : parse_expression(options.with_condition));
    if (!is(TokenType::comma)) break;
    is_tuple = true;
  }
  if (!is_tuple) {
    if (!node.items.empty()) return std::move(node.items[0]);
    if (!options.explicit_parentheses) {
      fail(current().offset, fmt::format("Expected an expression, got {}", repr_of_text(describe(current()))));
    }
  }
  return make(offset, std::move(node));
}

}  // namespace lagoon::jinja
