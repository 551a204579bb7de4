#include "text/jinja/limits.h"
#include "text/jinja/parser.h"
#include "text/jinja/parser_state.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/resolver.h"
#include "text/jinja/template_error.h"

#include <algorithm>

namespace lagoon::jinja {

void Parser::fail_unknown_tag(const std::string* name, const EndTags* more, size_t offset) const {
  std::vector<EndTags> stack = end_tags_;
  if (more != nullptr) stack.push_back(*more);
  std::string message = name == nullptr ? "Unexpected end of template." : fmt::format("Encountered unknown tag {}.", repr_of_text(*name));
  if (!stack.empty()) {
    std::string looking;
    for (const std::string_view tag : stack.back()) looking += fmt::format("{}'{}'", looking.empty() ? "" : " or ", tag);
    const auto holds = [&](const EndTags& tags) { return std::find(tags.begin(), tags.end(), *name) != tags.end(); };
    const bool expected = name != nullptr && std::any_of(stack.begin(), stack.end(), holds);
    message += expected ? fmt::format(" You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for {}.", looking)
                        : fmt::format(" Jinja was looking for the following tags: {}.", looking);
  }
  if (!open_tags_.empty()) message += fmt::format(" The innermost block that needs to be closed is {}.", repr_of_text(open_tags_.back()));
  fail(offset, message);
}

Body Parser::parse() { return parse_body({}); }

/// Statements up to a tag of `ends`, whose name is then the current token, or to the end of the template.
Body Parser::parse_body(const EndTags& ends) {
  const Nesting nesting(*this);
  Body body;
  if (!ends.empty()) end_tags_.push_back(ends);
  const auto add = [&](uint32_t offset, Statement::Node node) { body.push_back(std::make_unique<Statement>(Statement{std::move(node), offset})); };
  while (!is(TokenType::end_of_file)) {
    const Token& token = next();
    if (token.type == TokenType::data) {
      add(token.offset, DataStatement{Value::text(token.text, Origin::from_template)});
    } else if (token.type == TokenType::variable_begin) {
      const uint32_t offset = current().offset;
      add(offset, PrintStatement{parse_tuple({})});
      expect(TokenType::variable_end);
    } else {
      if (is(TokenType::name) && std::find(ends.begin(), ends.end(), current().text) != ends.end()) break;
      const uint32_t offset = current().offset;
      add(offset, parse_statement());
      expect(TokenType::block_end);
    }
  }
  if (!ends.empty()) end_tags_.pop_back();
  return body;
}

Body Parser::parse_until(const EndTags& ends, bool drop_end) {
  skip_if(TokenType::colon);
  expect(TokenType::block_end);
  Body body = parse_body(ends);
  if (is(TokenType::end_of_file)) fail_unknown_tag(nullptr, &ends, current().offset);
  if (drop_end) next();
  return body;
}

Statement::Node Parser::parse_statement() {
  if (!is(TokenType::name)) fail(current().offset, "tag name expected");
  const std::string tag = current().text;
  open_tags_.push_back(tag);
  Statement::Node node = parse_tag(tag);
  open_tags_.pop_back();
  return node;
}

Statement::Node Parser::parse_tag(const std::string& tag) {
  const size_t offset = current().offset;
  next();
  if (tag == "set") return parse_set();
  if (tag == "for") return parse_for();
  if (tag == "if") return parse_if();
  if (tag == "macro") return parse_macro();
  if (tag == "generation" || tag == "autoescape") return parse_scope(tag == "autoescape");
  if (tag == "call") return parse_call_block();
  if (tag == "filter") return parse_filter_block();
  if (tag == "with") return parse_with();
  if (tag == "block") return parse_block();
  if (tag == "include") return parse_include();
  if (tag == "extends" || tag == "import" || tag == "from") return parse_unsupported();
  if (tag == "break") return BreakStatement{};
  if (tag == "continue") return ContinueStatement{};
  if (tag == "print") return parse_print();
  open_tags_.pop_back();
  fail_unknown_tag(&tag, nullptr, offset);
}

Statement::Node Parser::parse_print() {
  const uint32_t offset = current().offset;
  ConcatExpression node;
  while (!is(TokenType::block_end)) {
    if (!node.parts.empty()) expect(TokenType::comma);
    node.parts.push_back(parse_expression());
  }
  return PrintStatement{make(offset, std::move(node))};
}

void Parser::check_target(const Expression& target) const {
  if (const auto* tuple = std::get_if<TupleExpression>(&target.node)) {
    for (const ExpressionPointer& item : tuple->items) check_target(*item);
    return;
  }
  if (std::holds_alternative<NamespaceTarget>(target.node)) return;
  if (std::holds_alternative<NameExpression>(target.node)) return;
  const char* what = std::holds_alternative<ConstantExpression>(target.node) ? "const" : "expression";
  fail(target.offset, fmt::format("can't assign to '{}'", what));
}

ExpressionPointer Parser::parse_target(std::string_view end_name, bool with_namespace) {
  ExpressionPointer target = parse_tuple({.simplified = true, .with_namespace = with_namespace, .end_name = end_name});
  check_target(*target);
  return target;
}

Statement::Node Parser::parse_set() {
  ExpressionPointer target = parse_target({}, true);
  if (skip_if(TokenType::assign)) {
    return SetStatement{std::move(target), parse_tuple({})};
  }
  SetBlockStatement node;
  node.target = std::move(target);
  node.filter = parse_filters(nullptr);
  node.body = parse_until({"endset"}, true);
  return node;
}

Statement::Node Parser::parse_for() {
  ForStatement node;
  const size_t target_at = at_;
  node.target = parse_target("in", false);
  const size_t after_target = at_;
  at_ = target_at;
  node.test_target = parse_target("in", false);
  at_ = after_target;
  expect_name("in");
  node.iterable = parse_tuple({.with_condition = false, .end_name = "recursive"});
  if (skip_if_name("if")) node.test = parse_expression();
  node.recursive = skip_if_name("recursive");
  node.body = parse_until({"endfor", "else"}, false);
  if (next().text != "endfor") node.otherwise = parse_until({"endfor"}, true);
  return node;
}

Statement::Node Parser::parse_if() {
  IfStatement node;
  while (true) {
    ExpressionPointer test = parse_tuple({.with_condition = false});
    node.branches.emplace_back(std::move(test), parse_until({"elif", "else", "endif"}, false));
    const std::string& tag = next().text;
    if (tag == "elif") continue;
    if (tag == "else") node.otherwise = parse_until({"endif"}, true);
    return node;
  }
}

Statement::Node Parser::parse_with() {
  WithStatement node;
  while (!is(TokenType::block_end)) {
    if (!node.assignments.empty()) expect(TokenType::comma);
    ExpressionPointer target = parse_target({}, false);
    expect(TokenType::assign);
    node.assignments.emplace_back(std::move(target), parse_expression());
  }
  node.body = parse_until({"endwith"}, true);
  return node;
}

Statement::Node Parser::parse_scope(bool autoescape) {
  ScopeStatement node;
  if (autoescape) node.autoescape = parse_expression();
  node.body = parse_until({autoescape ? "endautoescape" : "endgeneration"}, true);
  return node;
}

Signature Parser::parse_signature() {
  Signature signature;
  expect(TokenType::left_paren);
  while (!is(TokenType::right_paren)) {
    if (!signature.names.empty()) expect(TokenType::comma);
    const Token& name = expect(TokenType::name);
    if (std::find(signature.names.begin(), signature.names.end(), name.text) != signature.names.end()) {
      fail(name.offset, fmt::format("duplicate argument '{}' in function definition", name.text), "SyntaxError");
    }
    if (skip_if(TokenType::assign)) {
      signature.defaults.push_back(parse_expression());
    } else if (!signature.defaults.empty()) {
      fail(current().offset, "non-default argument follows default argument");
    }
    signature.names.push_back(name.text);
  }
  expect(TokenType::right_paren);
  return signature;
}

Statement::Node Parser::parse_macro() {
  MacroStatement node;
  node.name = expect(TokenType::name).text;
  node.signature = parse_signature();
  node.body = parse_until({"endmacro"}, true);
  return node;
}

Statement::Node Parser::parse_call_block() {
  const size_t offset = current().offset;
  CallBlockStatement node;
  node.body = std::make_unique<MacroStatement>();
  if (is(TokenType::left_paren)) node.body->signature = parse_signature();
  node.call = parse_expression();
  if (!std::holds_alternative<CallExpression>(node.call->node)) fail(offset, "expected call");
  node.body->body = parse_until({"endcall"}, true);
  return node;
}

Statement::Node Parser::parse_filter_block() {
  FilterBlockStatement node;
  node.filter = parse_filters(nullptr, true);
  node.body = parse_until({"endfilter"}, true);
  return node;
}

Statement::Node Parser::parse_block() {
  BlockStatement node;
  node.name = expect(TokenType::name).text;
  node.scoped = skip_if_name("scoped");
  node.required = skip_if_name("required");
  if (is(TokenType::sub)) {
    fail(current().offset, "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.");
  }
  node.body = parse_until({"endblock"}, true);
  skip_if_name(node.name);
  return node;
}

Statement::Node Parser::parse_include() {
  IncludeStatement node;
  node.name = parse_expression();
  const auto looks_at = [this](std::string_view name) { return look().type == TokenType::name && look().text == name; };
  if (is_name("ignore") && looks_at("missing")) {
    node.ignore_missing = true;
    next();
    next();
  }
  if ((is_name("with") || is_name("without")) && looks_at("context")) {
    node.with_context = next().text == "with";
    next();
  }
  return node;
}

/// Takes the whole tag: what it says does not matter, since running it fails.
Statement::Node Parser::parse_unsupported() {
  UnsupportedStatement node{tokens_[at_ - 1].text};
  parse_expression();
  while (!is(TokenType::block_end) && !is(TokenType::end_of_file)) next();
  return node;
}

std::shared_ptr<const Template> parse_template(std::string_view source, std::string name) {
  auto out = std::make_shared<Template>();
  out->name = std::move(name);
  out->source = normalize_source(source);
  try {
    if (out->source.size() > UINT32_MAX) raise("TemplateSyntaxError", "the template is larger than 4 GiB");
    out->body = Parser(out->source, tokenize(out->source)).parse();
    resolve(*out);
  } catch (Raised& raised) {
    raised.place.template_name = out->name;
    throw;
  }
  return out;
}

}  // namespace lagoon::jinja
