#include "text/jinja/resolver.h"

#include "text/jinja/ast_walk.h"
#include "text/jinja/filters.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/scope_symbols.h"
#include "text/jinja/template_error.h"
#include "text/jinja/tests.h"

#include <algorithm>
#include <set>

namespace lagoon::jinja {
namespace {

/// Where a statement stands.
struct Surroundings {
  bool in_loop = false;    // break and continue have a meaning
  bool in_branch = false;  // inside an `if`: unknown filters and tests are refused only when they run
};

class Resolver {
 public:
  explicit Resolver(Template& tree) : tree_(tree) {}
  void run();

 private:
  [[noreturn]] void fail(uint32_t offset, const char* error_class, const std::string& message) const {
    throw Raised{error_class, message, place_of(tree_.name, tree_.source, offset)};
  }

  void bind(Expression& expression, const ScopeSymbols& scope, Surroundings where);
  void check_name(const Expression& expression, Surroundings where) const;
  void bind_body(Body& body, ScopeSymbols& scope, Surroundings where) {
    for (const auto& statement : body) {
      offset_ = statement->offset;
      std::visit([&](auto& node) { bind_statement(node, scope, where); }, statement->node);
    }
  }
  /// A scope whose statements are `body` and nothing else.
  void bind_inner(Body& body, ScopeLayout& layout, ScopeSymbols& outer, Surroundings where) {
    ScopeSymbols inner(&outer, layout);
    inner.analyze(body);
    bind_body(body, inner, {where.in_loop, false});
    inner.finish();
  }

  void bind_statement(DataStatement&, ScopeSymbols&, Surroundings) {}
  void bind_statement(PrintStatement& node, ScopeSymbols& scope, Surroundings where) { bind(*node.value, scope, where); }
  void bind_statement(SetStatement& node, ScopeSymbols& scope, Surroundings where) {
    bind(*node.value, scope, where);
    bind(*node.target, scope, where);
  }
  void bind_statement(SetBlockStatement& node, ScopeSymbols& scope, Surroundings where);
  void bind_statement(ForStatement& node, ScopeSymbols& scope, Surroundings where);
  void bind_statement(IfStatement& node, ScopeSymbols& scope, Surroundings where);
  void bind_statement(MacroStatement& node, ScopeSymbols& scope, Surroundings where);
  void bind_statement(CallBlockStatement& node, ScopeSymbols& scope, Surroundings where) {
    bind(*node.call, scope, where);
    bind_macro(*node.body, scope);
  }
  void bind_statement(FilterBlockStatement& node, ScopeSymbols& scope, Surroundings where);
  void bind_statement(WithStatement& node, ScopeSymbols& scope, Surroundings where);
  void bind_statement(ScopeStatement& node, ScopeSymbols& scope, Surroundings where);
  void bind_statement(BlockStatement& node, ScopeSymbols& scope, Surroundings where);
  void bind_statement(IncludeStatement& node, ScopeSymbols& scope, Surroundings where) { bind(*node.name, scope, where); }
  void bind_statement(UnsupportedStatement&, ScopeSymbols&, Surroundings) {}
  void bind_statement(BreakStatement&, ScopeSymbols&, Surroundings where) { require_loop("break", where); }
  void bind_statement(ContinueStatement&, ScopeSymbols&, Surroundings where) { require_loop("continue", where); }

  void bind_macro(MacroStatement& node, ScopeSymbols& scope);
  void require_loop(const char* what, Surroundings where) const {
    if (where.in_loop) return;
    const bool is_break = std::string_view(what) == "break";
    fail(offset_, "SyntaxError", is_break ? "'break' outside loop" : "'continue' not properly in loop");
  }

  Template& tree_;
  uint32_t offset_ = 0;
  std::set<std::string> block_names_;
};

void Resolver::run() {
  ScopeSymbols root(nullptr, tree_.scope);
  if (speaks_of(tree_.body, "self")) tree_.self_slot = root.declare_parameter("self");
  root.analyze(tree_.body);
  bind_body(tree_.body, root, {});
  root.finish();
}

void Resolver::check_name(const Expression& expression, Surroundings where) const {
  if (where.in_branch) return;
  if (const auto* filter = std::get_if<FilterExpression>(&expression.node)) {
    if (!filter_exists(filter->name)) {
      fail(expression.offset, "TemplateAssertionError", fmt::format("No filter named {}.", repr_of_text(filter->name)));
    }
  }
  if (const auto* test = std::get_if<TestExpression>(&expression.node)) {
    if (!test_exists(test->name)) {
      fail(expression.offset, "TemplateAssertionError", fmt::format("No test named {}.", repr_of_text(test->name)));
    }
  }
}

void Resolver::bind(Expression& expression, const ScopeSymbols& scope, Surroundings where) {
  auto& node = expression.node;
  if (auto* name = std::get_if<NameExpression>(&node)) name->slot = scope.find(name->name);
  if (auto* target = std::get_if<NamespaceTarget>(&node)) target->slot = scope.find(target->name);
  check_name(expression, where);
  if (std::holds_alternative<ConditionalExpression>(node)) where.in_branch = true;
  for_each_child(expression, [&](Expression& child) { bind(child, scope, where); });
}

void Resolver::bind_statement(SetBlockStatement& node, ScopeSymbols& scope, Surroundings where) {
  ScopeSymbols inner(&scope, node.scope);
  inner.analyze(node.body);
  if (node.filter) inner.load_names(*node.filter);
  bind_body(node.body, inner, {where.in_loop, false});
  if (node.filter) bind(*node.filter, inner, {});
  inner.finish();
  bind(*node.target, scope, where);
}

void Resolver::bind_statement(ForStatement& node, ScopeSymbols& scope, Surroundings where) {
  if (stores_name(node, "loop")) fail(offset_, "TemplateAssertionError", "Can't assign to special loop variable in for-loop target");
  ScopeSymbols body(&scope, node.body_scope);
  const bool uses_loop = node.recursive || speaks_of(node.body, "loop") || (node.test && speaks_of(*node.test, "loop"));
  if (uses_loop) node.loop_slot = body.declare_parameter("loop");
  body.declare_target(*node.target);
  body.analyze(node.body);
  ScopeSymbols otherwise(&scope, node.otherwise_scope);
  otherwise.analyze(node.otherwise);
  ScopeSymbols test(&scope, node.test_scope);
  test.declare_target(*node.test_target);
  if (node.test) {
    test.load_names(*node.test);
    bind(*node.test, test, {});
  }
  bind(*node.test_target, test, {});
  bind(*node.target, body, {});
  bind(*node.iterable, scope, where);
  bind_body(node.body, body, {true, false});
  bind_body(node.otherwise, otherwise, {where.in_loop && !node.recursive, false});
  test.finish();
  body.finish();
  otherwise.finish();
}

void Resolver::bind_statement(IfStatement& node, ScopeSymbols& scope, Surroundings where) {
  where.in_branch = true;
  for (auto& [test, body] : node.branches) {
    bind(*test, scope, where);
    bind_body(body, scope, where);
  }
  bind_body(node.otherwise, scope, where);
}

void Resolver::bind_macro(MacroStatement& node, ScopeSymbols& scope) {
  ScopeSymbols inner(&scope, node.scope);
  const auto& names = node.signature.names;
  node.argument_slots.reserve(names.size());
  for (const std::string& name : names) node.argument_slots.push_back(inner.declare_parameter(name));
  const auto named = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  const auto special = [&](const char* name) { return !named(name) && speaks_of(node.body, name) ? inner.declare_parameter(name) : -1; };
  node.caller_slot = special("caller");
  node.kwargs_slot = special("kwargs");
  node.varargs_slot = special("varargs");
  if (named("caller") && speaks_of(node.body, "caller")) {
    const auto at = static_cast<size_t>(std::find(names.begin(), names.end(), "caller") - names.begin());
    if (at + node.signature.defaults.size() < names.size()) {
      fail(offset_, "TemplateAssertionError",
           "When defining macros or call blocks the special \"caller\" argument must be omitted or be given a default.");
    }
  }
  for (const auto& value : node.signature.defaults) inner.load_names(*value);
  inner.analyze(node.body);
  for (const auto& value : node.signature.defaults) bind(*value, inner, {});
  bind_body(node.body, inner, {});
  inner.finish();
}

void Resolver::bind_statement(MacroStatement& node, ScopeSymbols& scope, Surroundings) {
  bind_macro(node, scope);
  node.slot = scope.find(node.name);
}

void Resolver::bind_statement(FilterBlockStatement& node, ScopeSymbols& scope, Surroundings where) {
  ScopeSymbols inner(&scope, node.scope);
  inner.analyze(node.body);
  inner.load_names(*node.filter);
  bind_body(node.body, inner, {where.in_loop, false});
  bind(*node.filter, inner, {});
  inner.finish();
}

void Resolver::bind_statement(WithStatement& node, ScopeSymbols& scope, Surroundings where) {
  ScopeSymbols inner(&scope, node.scope);
  for (const auto& [target, value] : node.assignments) inner.declare_target(*target);
  inner.analyze(node.body);
  for (const auto& [target, value] : node.assignments) {
    bind(*target, inner, {});
    bind(*value, scope, where);
  }
  bind_body(node.body, inner, {where.in_loop, false});
  inner.finish();
}

void Resolver::bind_statement(ScopeStatement& node, ScopeSymbols& scope, Surroundings where) {
  ScopeSymbols inner(&scope, node.scope);
  if (node.autoescape) inner.load_names(*node.autoescape);
  inner.analyze(node.body);
  if (node.autoescape) bind(*node.autoescape, inner, {});
  bind_body(node.body, inner, {where.in_loop && node.autoescape != nullptr, false});  // a generation block is a function of its own
  inner.finish();
}

void Resolver::bind_statement(BlockStatement& node, ScopeSymbols&, Surroundings) {
  if (!block_names_.insert(node.name).second) {
    fail(offset_, "TemplateAssertionError", fmt::format("block {} defined twice", repr_of_text(node.name)));
  }
  tree_.blocks.push_back(&node);
  ScopeSymbols inner(nullptr, node.scope);
  if (speaks_of(node.body, "self")) node.self_slot = inner.declare_parameter("self");
  if (speaks_of(node.body, "super")) node.super_slot = inner.declare_parameter("super");
  inner.analyze(node.body);
  bind_body(node.body, inner, {});
  inner.finish();
}

}  // namespace

void resolve(Template& tree) { Resolver(tree).run(); }

}  // namespace lagoon::jinja
