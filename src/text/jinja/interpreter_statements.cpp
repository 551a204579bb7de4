#include "text/jinja/attributes.h"
#include "text/jinja/globals.h"
#include "text/jinja/interpreter_guards.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/text_operations.h"

namespace lagoon::jinja {

Interpreter::Flow Interpreter::run(const Body& body, const ScopePointer& scope) {
  for (const auto& statement : body) {
    const Flow flow = run(*statement, scope);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Interpreter::Flow Interpreter::run(const Statement& statement, const ScopePointer& scope) {
  budget_.step();
  try {
    const Depth depth(*this);
    return std::visit([&](const auto& node) { return execute(node, scope); }, statement.node);
  } catch (Raised& raised) {
    if (raised.place.line == 0) raised.place = place_of(tree_->name, tree_->source, statement.offset);
    throw;
  }
}

void Interpreter::print(const Value& value) {
  const size_t before = out_->size();
  const bool escapes = autoescape_ && !(value.is_text() && value.as_text().markup);
  if (value.is_text() && !escapes) {
    out_->append(value.marked());
  } else {
    if (escapes && value.is_text()) budget_.visit(value.bytes().size());
    out_->append(escapes ? escape_markup(value, budget_).marked() : str(value, budget_));
  }
  budget_.produced(out_->size() - before);
  budget_.text(out_->size());
}

/// What a macro or set block caught: markup where escaping is on.
Value Interpreter::captured(MarkedText text) const { return Value::text(std::move(text), autoescape_); }

Interpreter::Flow Interpreter::execute(const DataStatement& node, const ScopePointer&) {
  out_->append(node.text.marked());
  budget_.step(node.text.marked().size() / 16);
  budget_.text(out_->size());
  return Flow::normal;
}

Interpreter::Flow Interpreter::execute(const PrintStatement& node, const ScopePointer& scope) {
  printing_ = true;
  print(evaluate(*node.value, scope));
  return Flow::normal;
}

void Interpreter::assign(const Expression& target, const Value& value, const ScopePointer& scope) {
  if (const auto* name = std::get_if<NameExpression>(&target.node)) {
    slot(name->slot, scope) = value;
    if (name->slot.hops == 0 && scope->exports != nullptr) scope->exports->variables[name->name] = value;
  } else if (const auto* member = std::get_if<NamespaceTarget>(&target.node)) {
    auto* space = slot(member->slot, scope).as<Namespace>();
    if (space == nullptr) raise("TemplateRuntimeError", "cannot assign attribute on non-namespace object");
    space->set(Value::text(member->attribute, Origin::from_template), value);
  } else {
    const auto& targets = std::get<TupleExpression>(target.node).items;
    if (!is_iterable(value)) raise("TypeError", "cannot unpack non-iterable {} object", type_name(value));
    const std::vector<Value> items = to_vector(value);
    if (items.size() < targets.size()) {
      raise("ValueError", "not enough values to unpack (expected {}, got {})", targets.size(), items.size());
    }
    if (items.size() > targets.size()) raise("ValueError", "too many values to unpack (expected {})", targets.size());
    for (size_t i = 0; i < targets.size(); ++i) assign(*targets[i], items[i], scope);
  }
}

Interpreter::Flow Interpreter::execute(const SetStatement& node, const ScopePointer& scope) {
  assign(*node.target, evaluate(*node.value, scope), scope);
  return Flow::normal;
}

Interpreter::Flow Interpreter::execute(const SetBlockStatement& node, const ScopePointer& scope) {
  const ScopePointer inner = enter(node.scope, scope);
  Value value;
  {
    Sink sink(*this);
    const Flow flow = run(node.body, inner);
    if (flow != Flow::normal) return flow;
    value = captured(sink.take());
  }
  if (node.filter) value = apply_filters(*node.filter, value, inner);
  assign(*node.target, value, scope);
  return Flow::normal;
}

Interpreter::Flow Interpreter::execute(const IfStatement& node, const ScopePointer& scope) {
  for (const auto& [test, body] : node.branches) {
    if (truth(evaluate(*test, scope))) return run(body, scope);
  }
  return run(node.otherwise, scope);
}

Interpreter::Flow Interpreter::execute(const MacroStatement& node, const ScopePointer& scope) {
  keep(scope);
  Value macro = Value::object(std::make_shared<Macro>(node, scope, *tree_, context_));
  if (node.slot.hops == 0 && scope->exports != nullptr) scope->exports->variables[node.name] = macro;
  slot(node.slot, scope) = std::move(macro);
  return Flow::normal;
}

Interpreter::Flow Interpreter::execute(const CallBlockStatement& node, const ScopePointer& scope) {
  keep(scope);
  const auto& call_node = std::get<CallExpression>(node.call->node);
  const Value callee = evaluate(*call_node.callee, scope);
  Arguments arguments = evaluate_arguments(call_node.arguments, scope);
  arguments.named.emplace_back("caller", Value::object(std::make_shared<Macro>(*node.body, scope, *tree_, context_)));
  print(call(callee, arguments));
  return Flow::normal;
}

Interpreter::Flow Interpreter::execute(const FilterBlockStatement& node, const ScopePointer& scope) {
  const ScopePointer inner = enter(node.scope, scope);
  Value value;
  {
    Sink sink(*this);
    const Flow flow = run(node.body, inner);
    if (flow != Flow::normal) return flow;
    value = captured(sink.take());
  }
  print(apply_filters(*node.filter, value, inner));
  return Flow::normal;
}

Interpreter::Flow Interpreter::execute(const WithStatement& node, const ScopePointer& scope) {
  const ScopePointer inner = enter(node.scope, scope);
  for (const auto& [target, value] : node.assignments) assign(*target, evaluate(*value, scope), inner);
  return run(node.body, inner);
}

Interpreter::Flow Interpreter::execute(const ScopeStatement& node, const ScopePointer& scope) {
  const ScopePointer inner = enter(node.scope, scope);
  if (!node.autoescape) return run(node.body, inner);
  const bool before = autoescape_;
  autoescape_ = truth(evaluate(*node.autoescape, inner));
  const Flow flow = run(node.body, inner);
  autoescape_ = before;  // after an error the render is over
  return flow;
}

Interpreter::Flow Interpreter::execute(const BlockStatement& node, const ScopePointer& scope) {
  if (node.required) raise("TemplateRuntimeError", "Required block {} not found", repr_of_text(node.name));
  Context* context = context_;
  if (node.scoped) {
    contexts_.push_back(std::make_unique<Context>());
    context = contexts_.back().get();
    context->outer = context_;
    collect_locals(scope, *context);
    budget_.produced(256 + context->variables.size() * 64);
  }
  out_->append(call_block(node, context, *tree_).marked());
  budget_.text(out_->size());
  return Flow::normal;
}

Value Interpreter::call_block(const BlockStatement& block, Context* context, const Template& tree) {
  const Inside inside(*this, tree, context);
  Sink sink(*this);
  const ScopePointer scope = enter(block.scope, nullptr);
  if (block.self_slot >= 0) scope->slots[static_cast<size_t>(block.self_slot)] = make_self(tree, context);
  if (block.super_slot >= 0) {
    scope->slots[static_cast<size_t>(block.super_slot)] = undefined(fmt::format("there is no parent block called {}.", repr_of_text(block.name)));
  }
  run(block.body, scope);
  return captured(sink.take());
}

Interpreter::Flow Interpreter::execute(const IncludeStatement& node, const ScopePointer& scope) {
  const Value name = evaluate(*node.name, scope);
  if (!loader_) raise("TypeError", "no loader for this environment specified");
  if (!name.is_list() && !name.is_tuple()) {
    if (!name.is_text()) raise("TypeError", "an include names a file by a string, not {}", type_name(name));
    include(name.bytes(), node, scope);
    return Flow::normal;
  }
  for (const Value& candidate : name.items()) {
    if (candidate.is_text() && loader_(candidate.bytes()) != nullptr) {
      include(candidate.bytes(), node, scope);
      return Flow::normal;
    }
  }
  if (!node.ignore_missing) raise("TemplatesNotFound", "none of the templates given were found: {}", repr(name));
  return Flow::normal;
}

void Interpreter::include(const std::string& name, const IncludeStatement& node, const ScopePointer& scope) {
  if (include_depth_ >= budget_.limits().include_depth) raise("RecursionError", "templates include each other more than {} deep", include_depth_);
  const std::shared_ptr<const Template> tree = loader_(name);
  if (tree == nullptr) {
    if (node.ignore_missing) return;
    raise("TemplateNotFound", "{}", name);
  }
  included_.push_back(tree);
  contexts_.push_back(std::make_unique<Context>());
  Context& context = *contexts_.back();
  context.outer = node.with_context ? context_ : &globals_;
  if (node.with_context) collect_locals(scope, context);
  budget_.produced(1024 + tree->source.size());
  ++include_depth_;
  const MarkedText text = run_root(*tree, context);
  --include_depth_;  // after an error the render is over
  out_->append(text);
  budget_.text(out_->size());
}

Interpreter::Flow Interpreter::execute(const UnsupportedStatement&, const ScopePointer&) {
  raise("TypeError", "no loader for this environment specified");
}

}  // namespace lagoon::jinja
