#include "text/jinja/parser_state.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/template_error.h"

namespace lagoon::jinja {

ExpressionPointer Parser::parse_postfix(ExpressionPointer operand) {
  while (true) {
    if (is(TokenType::dot) || is(TokenType::left_bracket)) {
      operand = parse_subscript(std::move(operand));
    } else if (is(TokenType::left_paren)) {
      operand = parse_call(std::move(operand));
    } else {
      return operand;
    }
  }
}

ExpressionPointer Parser::parse_filter_expression(ExpressionPointer operand) {
  while (true) {
    if (is(TokenType::pipe)) {
      operand = parse_filters(std::move(operand));
    } else if (is_name("is")) {
      operand = parse_test(std::move(operand));
    } else if (is(TokenType::left_paren)) {
      operand = parse_call(std::move(operand));
    } else {
      return operand;
    }
  }
}

ExpressionPointer Parser::parse_subscript(ExpressionPointer operand) {
  const Token& token = next();
  if (token.type == TokenType::dot) {
    const Token& attribute = next();
    if (attribute.type == TokenType::name) return make(attribute.offset, AttributeExpression{std::move(operand), attribute.text});
    if (attribute.type != TokenType::integer) fail(attribute.offset, "expected name or number");
    ExpressionPointer index = make(attribute.offset, ConstantExpression{Value::integer(attribute.integer)});
    return make(token.offset, ItemExpression{std::move(operand), std::move(index)});
  }
  TupleExpression indexes;
  while (!is(TokenType::right_bracket)) {
    if (!indexes.items.empty()) expect(TokenType::comma);
    indexes.items.push_back(parse_subscribed());
  }
  expect(TokenType::right_bracket);
  ExpressionPointer index = indexes.items.size() == 1 ? std::move(indexes.items[0]) : make(token.offset, std::move(indexes));
  return make(token.offset, ItemExpression{std::move(operand), std::move(index)});
}

ExpressionPointer Parser::parse_subscribed() {
  const uint32_t offset = current().offset;
  const auto ends = [this] { return is(TokenType::right_bracket) || is(TokenType::comma); };
  SliceExpression slice;
  if (!is(TokenType::colon)) {
    slice.begin = parse_expression();
    if (!is(TokenType::colon)) return std::move(slice.begin);
  }
  next();
  if (!is(TokenType::colon) && !ends()) slice.end = parse_expression();
  if (skip_if(TokenType::colon) && !ends()) slice.step = parse_expression();
  return make(offset, std::move(slice));
}

ExpressionPointer Parser::parse_call(ExpressionPointer callee) {
  const uint32_t offset = current().offset;
  return make(offset, CallExpression{std::move(callee), parse_call_arguments()});
}

CallArguments Parser::parse_call_arguments() {
  const uint32_t offset = expect(TokenType::left_paren).offset;
  CallArguments arguments;
  bool first = true;
  while (!is(TokenType::right_paren)) {
    if (!first) {
      expect(TokenType::comma);
      if (is(TokenType::right_paren)) break;
    }
    first = false;
    parse_call_argument(arguments, offset);
  }
  expect(TokenType::right_paren);
  return arguments;
}

void Parser::parse_call_argument(CallArguments& arguments, size_t offset) {
  const auto ensure = [&](bool condition) {
    if (!condition) fail(offset, "invalid syntax for function call expression");
  };
  if (is(TokenType::mul)) {
    ensure(arguments.spread_values == nullptr && arguments.spread_named == nullptr);
    next();
    arguments.spread_values = parse_expression();
  } else if (is(TokenType::pow)) {
    ensure(arguments.spread_named == nullptr);
    next();
    arguments.spread_named = parse_expression();
  } else if (is(TokenType::name) && look().type == TokenType::assign) {
    ensure(arguments.spread_named == nullptr);
    const Token& name = next();
    next();
    for (const auto& [known, value] : arguments.named) {
      if (known == name.text) fail(name.offset, fmt::format("keyword argument repeated: {}", name.text), "SyntaxError");
    }
    arguments.named.emplace_back(name.text, parse_expression());
  } else {
    ensure(arguments.spread_values == nullptr && arguments.spread_named == nullptr && arguments.named.empty());
    arguments.values.push_back(parse_expression());
  }
}

std::string Parser::parse_dotted_name() {
  std::string name = expect(TokenType::name).text;
  while (skip_if(TokenType::dot)) name += "." + expect(TokenType::name).text;
  return name;
}

ExpressionPointer Parser::parse_filters(ExpressionPointer operand, bool start_inline) {
  while (is(TokenType::pipe) || start_inline) {
    if (!start_inline) next();
    start_inline = false;
    const uint32_t offset = current().offset;
    FilterExpression node;
    node.operand = std::move(operand);
    node.name = parse_dotted_name();
    if (is(TokenType::left_paren)) node.arguments = parse_call_arguments();
    operand = make(offset, std::move(node));
  }
  return operand;
}

ExpressionPointer Parser::parse_test(ExpressionPointer operand) {
  next();
  const bool negated = skip_if_name("not");
  const uint32_t offset = current().offset;
  TestExpression node;
  node.operand = std::move(operand);
  node.name = parse_dotted_name();
  switch (current().type) {
    case TokenType::left_paren:
      node.arguments = parse_call_arguments();
      break;
    case TokenType::name:
      if (is_name("else") || is_name("or") || is_name("and")) break;
      if (is_name("is")) fail(current().offset, "You cannot chain multiple tests with is");
      [[fallthrough]];
    case TokenType::text:
    case TokenType::integer:
    case TokenType::real:
    case TokenType::left_bracket:
    case TokenType::left_brace: {
      const Nesting nesting(*this);
      node.arguments.values.push_back(parse_postfix(parse_primary()));
      break;
    }
    default:
      break;
  }
  ExpressionPointer test = make(offset, std::move(node));
  return negated ? make(offset, UnaryExpression{UnaryOperator::negation, std::move(test)}) : std::move(test);
}

}  // namespace lagoon::jinja
