// parser_state.h: the class behind parser.h, its members spread over parser_expressions.cpp, parser_postfix.cpp and
// parser_statements.cpp. Grammar and messages follow Jinja2's parser.
#pragma once

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon::jinja {

class Parser {
 public:
  Parser(std::string_view source, std::vector<Token> tokens) : source_(source), tokens_(std::move(tokens)) {}
  Body parse();

 private:
  using EndTags = std::vector<std::string_view>;

  // One level of nesting in the source; refuses what is deeper than source_depth_limit.
  class Nesting {
   public:
    explicit Nesting(Parser& parser);
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  // The stream.
  const Token& current() const { return tokens_[at_]; }
  const Token& look() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  const Token& next();
  bool is(TokenType type) const { return current().type == type; }
  bool is_name(std::string_view name) const { return is(TokenType::name) && current().text == name; }
  bool skip_if(TokenType type);
  bool skip_if_name(std::string_view name);
  const Token& expect(TokenType type);
  const Token& expect_name(std::string_view name);
  [[noreturn]] void fail(size_t offset, const std::string& message, const char* error_class = "TemplateSyntaxError") const;
  [[noreturn]] void fail_unknown_tag(const std::string* name, const EndTags* more, size_t offset) const;

  template <typename Node>
  ExpressionPointer make(uint32_t offset, Node node) const {
    auto out = std::make_unique<Expression>(Expression{std::move(node), offset, 1, true});
    measure(*out);
    return out;
  }
  void measure(Expression& expression) const;

  // parser_expressions.cpp
  ExpressionPointer parse_expression(bool with_condition = true);
  ExpressionPointer parse_condition();
  ExpressionPointer parse_or();
  ExpressionPointer parse_and();
  ExpressionPointer parse_not();
  ExpressionPointer parse_compare();
  ExpressionPointer parse_sum();
  ExpressionPointer parse_concat();
  ExpressionPointer parse_product();
  ExpressionPointer parse_power();
  ExpressionPointer parse_unary(bool with_filter = true);
  ExpressionPointer parse_primary(bool with_namespace = false);
  ExpressionPointer parse_name(bool with_namespace);
  ExpressionPointer parse_list();
  ExpressionPointer parse_dict();
  struct TupleOptions {
    bool simplified = false;
    bool with_condition = true;
    bool explicit_parentheses = false;
    bool with_namespace = false;
    std::string_view end_name = {};
  };
  ExpressionPointer parse_tuple(const TupleOptions& options);
  bool is_tuple_end(std::string_view end_name) const;

  // parser_postfix.cpp
  ExpressionPointer parse_postfix(ExpressionPointer operand);
  ExpressionPointer parse_filter_expression(ExpressionPointer operand);
  ExpressionPointer parse_subscript(ExpressionPointer operand);
  ExpressionPointer parse_subscribed();
  ExpressionPointer parse_call(ExpressionPointer callee);
  CallArguments parse_call_arguments();
  void parse_call_argument(CallArguments& arguments, size_t offset);
  ExpressionPointer parse_filters(ExpressionPointer operand, bool start_inline = false);
  ExpressionPointer parse_test(ExpressionPointer operand);
  std::string parse_dotted_name();

  // parser_statements.cpp
  Body parse_body(const EndTags& ends);
  Body parse_until(const EndTags& ends, bool drop_end);
  Statement::Node parse_statement();
  Statement::Node parse_tag(const std::string& tag);
  Statement::Node parse_print();
  Statement::Node parse_set();
  Statement::Node parse_for();
  Statement::Node parse_if();
  Statement::Node parse_with();
  Statement::Node parse_scope(bool autoescape);
  Statement::Node parse_macro();
  Statement::Node parse_call_block();
  Statement::Node parse_filter_block();
  Statement::Node parse_block();
  Statement::Node parse_include();
  Statement::Node parse_unsupported();
  Signature parse_signature();
  ExpressionPointer parse_target(std::string_view end_name, bool with_namespace);
  void check_target(const Expression& target) const;

  std::string_view source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  std::vector<std::string> open_tags_;
  std::vector<EndTags> end_tags_;
};

}  // namespace lagoon::jinja
