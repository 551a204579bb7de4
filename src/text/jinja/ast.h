// ast.h: a parsed template. Expressions and statements are variants of small structs; every node knows the byte of the
// source where it begins, and how deep it is, so that neither evaluation nor destruction can overflow the stack.
//
// Names are resolved before a template runs (resolver.h), as Jinja2 does when it compiles: a name refers to a slot of the
// scope that it stands in or of one around it, and each scope says what its slots hold when it is entered.
#pragma once

#include "text/jinja/value.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lagoon::jinja {

struct Expression;
struct Statement;
using ExpressionPointer = std::unique_ptr<Expression>;
using Body = std::vector<std::unique_ptr<Statement>>;

/// A slot, `hops` scopes outward from the one where the name stands.
struct Slot {
  int hops = -1;  // -1: not resolved
  int index = 0;
};

/// What the slots of a scope hold when it is entered.
struct ScopeLayout {
  enum class Load { nothing, from_outside, from_context };
  struct Entry {
    std::string name;
    Load load = Load::nothing;
    Slot outside;            // from_outside: relative to the scope around this one
    bool parameter = false;  // filled by whoever enters the scope
    bool stored = false;     // assigned to somewhere in the scope: an included template sees it
  };
  std::vector<Entry> entries;  // one per slot
};

struct CallArguments {
  std::vector<ExpressionPointer> values;
  std::vector<std::pair<std::string, ExpressionPointer>> named;
  ExpressionPointer spread_values;  // *sequence
  ExpressionPointer spread_named;   // **mapping
};

// ---- expressions

struct ConstantExpression {
  Value value;
};
struct NameExpression {
  std::string name;
  Slot slot;
};
struct NamespaceTarget {  // ns.attribute on the left of an assignment
  std::string name;
  std::string attribute;
  Slot slot;
};
struct ListExpression {
  std::vector<ExpressionPointer> items;
};
struct TupleExpression {
  std::vector<ExpressionPointer> items;
};
struct DictExpression {
  std::vector<std::pair<ExpressionPointer, ExpressionPointer>> entries;
};
struct AttributeExpression {
  ExpressionPointer object;
  std::string name;
};
struct ItemExpression {
  ExpressionPointer object;
  ExpressionPointer index;
};
struct SliceExpression {               // only as the index of an ItemExpression
  ExpressionPointer begin, end, step;  // each may be null
};
struct CallExpression {
  ExpressionPointer callee;
  CallArguments arguments;
};
struct FilterExpression {
  ExpressionPointer operand;  // null in a filter block, where the operand is the text of the block
  std::string name;
  CallArguments arguments;
};
struct TestExpression {
  ExpressionPointer operand;
  std::string name;
  CallArguments arguments;
};
enum class UnaryOperator { plus, minus, negation };
struct UnaryExpression {
  UnaryOperator operation;
  ExpressionPointer operand;
};
enum class BinaryOperator { add, sub, mul, div, floordiv, mod, pow };
struct BinaryExpression {
  BinaryOperator operation;
  ExpressionPointer left, right;
};
struct LogicExpression {  // `and`, `or`
  bool conjunction;
  ExpressionPointer left, right;
};
enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal, in, not_in };
struct CompareExpression {
  ExpressionPointer first;
  std::vector<std::pair<Comparison, ExpressionPointer>> rest;
};
struct ConcatExpression {
  std::vector<ExpressionPointer> parts;
};
struct ConditionalExpression {
  ExpressionPointer condition, then;
  ExpressionPointer otherwise;  // may be null
};

struct Expression {
  using Node = std::variant<ConstantExpression, NameExpression, NamespaceTarget, ListExpression, TupleExpression, DictExpression, AttributeExpression,
                            ItemExpression, SliceExpression, CallExpression, FilterExpression, TestExpression, UnaryExpression, BinaryExpression,
                            LogicExpression, CompareExpression, ConcatExpression, ConditionalExpression>;
  Node node;
  uint32_t offset;
  int depth;      // 1 + the deepest child
  bool constant;  // made of literals alone
};

// ---- statements

struct DataStatement {
  Value text;  // as the source wrote it: from_template
};
struct PrintStatement {
  ExpressionPointer value;
};
struct SetStatement {
  ExpressionPointer target;
  ExpressionPointer value;
};
struct SetBlockStatement {
  ExpressionPointer target;
  ExpressionPointer filter;  // may be null
  Body body;
  ScopeLayout scope;
};
struct ForStatement {
  ExpressionPointer target, iterable;
  ExpressionPointer test;         // may be null
  ExpressionPointer test_target;  // the target once more, for the scope of the test
  bool recursive = false;
  Body body, otherwise;
  ScopeLayout body_scope, test_scope, otherwise_scope;
  int loop_slot = -1;  // the slot of `loop` in body_scope, where the body speaks of it
};
struct IfStatement {
  std::vector<std::pair<ExpressionPointer, Body>> branches;
  Body otherwise;
};
struct Signature {
  std::vector<std::string> names;
  std::vector<ExpressionPointer> defaults;  // of the last names
};
struct MacroStatement {
  std::string name;  // empty: the body of a call block
  Signature signature;
  Body body;
  ScopeLayout scope;
  Slot slot;  // the macro itself
  std::vector<int> argument_slots;
  int caller_slot = -1, kwargs_slot = -1, varargs_slot = -1;  // -1: the body does not speak of it
};
struct CallBlockStatement {
  ExpressionPointer call;  // a CallExpression
  std::unique_ptr<MacroStatement> body;
};
struct FilterBlockStatement {
  ExpressionPointer filter;
  Body body;
  ScopeLayout scope;
};
struct WithStatement {
  std::vector<std::pair<ExpressionPointer, ExpressionPointer>> assignments;
  Body body;
  ScopeLayout scope;
};
struct ScopeStatement {          // autoescape, generation
  ExpressionPointer autoescape;  // null: unchanged
  Body body;
  ScopeLayout scope;
};
struct BlockStatement {
  std::string name;
  bool scoped = false;
  bool required = false;
  Body body;
  ScopeLayout scope;  // a scope of its own, that sees the context only
  int self_slot = -1, super_slot = -1;
};
struct IncludeStatement {
  ExpressionPointer name;
  bool ignore_missing = false;
  bool with_context = true;
};
struct UnsupportedStatement {  // extends, import, from: need a loader that chat templates do not have
  std::string tag;
};
struct BreakStatement {};
struct ContinueStatement {};

struct Statement {
  using Node = std::variant<DataStatement, PrintStatement, SetStatement, SetBlockStatement, ForStatement, IfStatement, MacroStatement,
                            CallBlockStatement, FilterBlockStatement, WithStatement, ScopeStatement, BlockStatement, IncludeStatement,
                            UnsupportedStatement, BreakStatement, ContinueStatement>;
  Node node;
  uint32_t offset;
};

struct Template {
  std::string name;
  std::string source;  // normalised (lexer.h)
  Body body;
  ScopeLayout scope;
  int self_slot = -1;
  std::vector<const BlockStatement*> blocks;
};

}  // namespace lagoon::jinja
