// interpreter.h: runs a parsed template. One object per render; nothing is shared between renders.
//
// Text goes to the innermost sink: the rendered text, or the text of a macro, call or set block. Scopes hold the slots that
// resolver.h decided on; a macro keeps the scope that it was made in alive. Macros and namespaces can refer to each other
// in circles, so both are registered, and emptied when the render ends.
#pragma once

#include "text/jinja/ast.h"
#include "text/jinja/limits.h"
#include "text/jinja/objects.h"
#include "text/jinja/template_error.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon::jinja {

/// The variables that a template sees by name: its own top-level ones, then those around it.
struct Context {
  std::map<std::string, Value, std::less<>> variables;
  const Context* outer = nullptr;

  Value find(std::string_view name) const;  // missing where there is none
};

struct Scope {
  const ScopeLayout* layout = nullptr;
  std::shared_ptr<Scope> outer;
  std::vector<Value> slots;
  Context* exports = nullptr;  // where assignments of a template's top level go as well
  bool kept = false;           // registered by a macro
};
using ScopePointer = std::shared_ptr<Scope>;

/// Gives the template of an `include`, or null where there is none. @throws Error
using Loader = std::function<std::shared_ptr<const Template>(const std::string& name)>;

/// A macro, or the `caller` of a call block.
class Macro : public Object {
 public:
  Macro(const MacroStatement& statement, ScopePointer scope, const Template& tree, Context* context)
      : statement_(statement), scope_(std::move(scope)), tree_(tree), context_(context) {}
  const char* type_name() const override { return "Macro"; }
  std::string repr() const override;
  bool callable() const override { return true; }
  Value attribute(std::string_view name) const override;
  const MacroStatement& statement() const { return statement_; }
  const ScopePointer& scope() const { return scope_; }
  const Template& tree() const { return tree_; }
  Context* context() const { return context_; }

 private:
  const MacroStatement& statement_;
  ScopePointer scope_;
  const Template& tree_;
  Context* context_;
};

/// The variable `loop`.
class Loop : public Object {
 public:
  Loop(Iterator items, std::optional<size_t> length, int depth0, const ForStatement* recursive, ScopePointer scope)
      : items_(std::move(items)), length_(length), depth0_(depth0), recursive_(recursive), scope_(std::move(scope)) {}
  const char* type_name() const override { return "LoopContext"; }
  void walks(const Value& iterable) { holds(iterable); }
  std::string repr() const override;
  bool truth() const override { return length() > 0; }
  bool callable() const override { return true; }
  Value attribute(std::string_view name) const override;

  bool advance(Value& item);
  size_t length() const;
  bool changed(const std::vector<Value>& values, Budget& budget);
  Value cycle(const std::vector<Value>& values) const;
  int depth0() const { return depth0_; }
  const ForStatement* recursive() const { return recursive_; }
  const ScopePointer& scope() const { return scope_; }

 private:
  bool peek() const;

  mutable Iterator items_;
  mutable std::optional<size_t> length_;
  mutable std::vector<Value> ahead_;  // items read to learn the length, the next one last
  mutable Value next_;                // the item after this one, once asked for
  Value previous_, current_;
  std::optional<std::vector<Value>> last_changed_;
  int64_t index0_ = -1;
  int depth0_;
  const ForStatement* recursive_;
  ScopePointer scope_;
};

class Interpreter {
 public:
  Interpreter(const RenderLimits& limits, Loader loader);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Renders a template with `variables` (a mapping with string keys). @throws Raised with the place
  MarkedText render(const Template& tree, const Dict& variables);

  // For filters, tests and methods.
  Budget& budget() { return budget_; }
  Value call(const Value& callee, Arguments& arguments);
  Value call_filter(std::string_view name, Arguments& arguments);
  bool call_test(std::string_view name, Arguments& arguments);
  bool autoescape() const { return autoescape_; }
  /// Keeps a namespace until the end of the render.
  std::shared_ptr<Namespace> make_namespace();
  Value call_block(const BlockStatement& block, Context* context, const Template& tree);

 private:
  enum class Flow { normal, break_loop, continue_loop };
  class Depth;   // counts nesting of evaluation
  class Sink;    // sends text elsewhere for a while
  class Inside;  // runs in another template, context and escape mode for a while

  // interpreter_statements.cpp
  Flow run(const Body& body, const ScopePointer& scope);
  Flow run(const Statement& statement, const ScopePointer& scope);
  Flow execute(const DataStatement& node, const ScopePointer& scope);
  Flow execute(const PrintStatement& node, const ScopePointer& scope);
  Flow execute(const SetStatement& node, const ScopePointer& scope);
  Flow execute(const SetBlockStatement& node, const ScopePointer& scope);
  Flow execute(const ForStatement& node, const ScopePointer& scope);
  Flow execute(const IfStatement& node, const ScopePointer& scope);
  Flow execute(const MacroStatement& node, const ScopePointer& scope);
  Flow execute(const CallBlockStatement& node, const ScopePointer& scope);
  Flow execute(const FilterBlockStatement& node, const ScopePointer& scope);
  Flow execute(const WithStatement& node, const ScopePointer& scope);
  Flow execute(const ScopeStatement& node, const ScopePointer& scope);
  Flow execute(const BlockStatement& node, const ScopePointer& scope);
  Flow execute(const IncludeStatement& node, const ScopePointer& scope);
  Flow execute(const UnsupportedStatement& node, const ScopePointer& scope);
  Flow execute(const BreakStatement&, const ScopePointer&) { return Flow::break_loop; }
  Flow execute(const ContinueStatement&, const ScopePointer&) { return Flow::continue_loop; }
  void print(const Value& value);
  void assign(const Expression& target, const Value& value, const ScopePointer& scope);
  void include(const std::string& name, const IncludeStatement& node, const ScopePointer& scope);
  Value captured(MarkedText text) const;

  // interpreter_loops.cpp
  Flow run_loop(const ForStatement& node, const Value& iterable, int depth0, const ScopePointer& scope);
  Value filtered(const ForStatement& node, const Value& iterable, const ScopePointer& scope);
  Value call_loop(const Loop& loop, Arguments& arguments);
  static Value loop_method(const Value& loop, std::string_view name);

  // interpreter_scopes.cpp
  ScopePointer enter(const ScopeLayout& layout, const ScopePointer& outer);
  void reload(Scope& scope) const;
  Value& slot(const Slot& slot, const ScopePointer& scope) const;
  void keep(const ScopePointer& scope);
  void collect_locals(const ScopePointer& scope, Context& into) const;
  MarkedText run_root(const Template& tree, Context& context);

  // interpreter_calls.cpp
  Arguments evaluate_arguments(const CallArguments& node, const ScopePointer& scope);
  Value call_macro(const Macro& macro, Arguments& arguments);
  void bind_macro_arguments(const Macro& macro, Arguments& arguments, Scope& scope);
  Value apply_filters(const Expression& filter, const Value& operand, const ScopePointer& scope);

  // interpreter_expressions.cpp
  Value evaluate(const Expression& expression, const ScopePointer& scope);
  Value evaluate_node(const Expression& expression, const ScopePointer& scope);
  Value compute(const ConstantExpression& node, const ScopePointer& scope);
  Value compute(const NameExpression& node, const ScopePointer& scope);
  Value compute(const NamespaceTarget& node, const ScopePointer& scope);
  Value compute(const ListExpression& node, const ScopePointer& scope);
  Value compute(const TupleExpression& node, const ScopePointer& scope);
  Value compute(const DictExpression& node, const ScopePointer& scope);
  Value compute(const AttributeExpression& node, const ScopePointer& scope);
  Value compute(const ItemExpression& node, const ScopePointer& scope);
  Value compute(const SliceExpression& node, const ScopePointer& scope);
  Value compute(const CallExpression& node, const ScopePointer& scope);
  Value compute(const FilterExpression& node, const ScopePointer& scope);
  Value compute(const TestExpression& node, const ScopePointer& scope);
  Value compute(const UnaryExpression& node, const ScopePointer& scope);
  Value compute(const BinaryExpression& node, const ScopePointer& scope);
  Value compute(const LogicExpression& node, const ScopePointer& scope);
  Value compute(const CompareExpression& node, const ScopePointer& scope);
  Value compute(const ConcatExpression& node, const ScopePointer& scope);
  Value compute(const ConditionalExpression& node, const ScopePointer& scope);

  Budget budget_;
  Loader loader_;
  Context globals_;
  std::vector<std::unique_ptr<Context>> contexts_;
  const Template* tree_ = nullptr;
  Context* context_ = nullptr;
  MarkedText* out_ = nullptr;
  bool autoescape_ = false;
  bool printing_ = false;  // the next expression is printed as it is
  bool folding_ = false;   // in an expression of literals alone: Jinja2 folds it when it compiles, and is laxer about slices there
  int depth_ = 0;
  int macro_depth_ = 0;
  int include_depth_ = 0;
  std::vector<ScopePointer> kept_scopes_;
  std::vector<std::shared_ptr<Namespace>> namespaces_;
  std::vector<std::shared_ptr<const Template>> included_;
};

}  // namespace lagoon::jinja
