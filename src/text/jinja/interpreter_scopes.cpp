// Contexts, scopes and the root of a render.
#include "text/jinja/globals.h"
#include "text/jinja/interpreter_guards.h"

namespace lagoon::jinja {

Value Context::find(std::string_view name) const {
  for (const Context* context = this; context != nullptr; context = context->outer) {
    const auto found = context->variables.find(name);
    if (found != context->variables.end()) return found->second;
  }
  return {};
}

Interpreter::Interpreter(const RenderLimits& limits, Loader loader) : budget_(limits), loader_(std::move(loader)) { add_globals(globals_); }

/// Empties what can refer to itself in circles: first everything lets go of its values while all of it is still held here.
Interpreter::~Interpreter() {
  for (const ScopePointer& scope : kept_scopes_) scope->slots.clear();
  for (const auto& space : namespaces_) space->clear();
  for (const auto& context : contexts_) context->variables.clear();
}

std::shared_ptr<Namespace> Interpreter::make_namespace() {
  budget_.produced(256);
  namespaces_.push_back(std::make_shared<Namespace>());
  return namespaces_.back();
}

MarkedText Interpreter::render(const Template& tree, const Dict& variables) {
  contexts_.push_back(std::make_unique<Context>());
  Context& given = *contexts_.back();
  given.outer = &globals_;
  for (const auto& [name, value] : variables.entries()) given.variables[name.bytes()] = value;
  contexts_.push_back(std::make_unique<Context>());
  Context& own = *contexts_.back();
  own.outer = &given;
  return run_root(tree, own);
}

MarkedText Interpreter::run_root(const Template& tree, Context& context) {
  const Inside inside(*this, tree, &context);
  Sink sink(*this);
  const ScopePointer scope = enter(tree.scope, nullptr);
  scope->exports = &context;
  keep(scope);
  if (tree.self_slot >= 0) scope->slots[static_cast<size_t>(tree.self_slot)] = make_self(tree, &context);
  try {
    run(tree.body, scope);
  } catch (Raised& raised) {
    if (raised.place.line == 0) raised.place.template_name = tree.name;
    throw;
  }
  return sink.take();
}

ScopePointer Interpreter::enter(const ScopeLayout& layout, const ScopePointer& outer) {
  budget_.produced(sizeof(Scope) + layout.entries.size() * sizeof(Value));
  auto scope = std::make_shared<Scope>();
  scope->layout = &layout;
  scope->outer = outer;
  scope->slots.resize(layout.entries.size());
  reload(*scope);
  return scope;
}

/// Gives the slots that nobody fills by hand what they hold on entry.
void Interpreter::reload(Scope& scope) const {
  for (size_t i = 0; i < scope.slots.size(); ++i) {
    const ScopeLayout::Entry& entry = scope.layout->entries[i];
    if (entry.parameter) continue;
    switch (entry.load) {
      case ScopeLayout::Load::nothing:
        scope.slots[i] = Value();
        break;
      case ScopeLayout::Load::from_outside:
        scope.slots[i] = slot(entry.outside, scope.outer);
        break;
      case ScopeLayout::Load::from_context:
        scope.slots[i] = context_->find(entry.name);
        break;
    }
  }
}

Value& Interpreter::slot(const Slot& slot, const ScopePointer& scope) const {
  require(slot.hops >= 0, "a name of a template was not resolved");
  Scope* at = scope.get();
  for (int hop = 0; hop < slot.hops; ++hop) at = at->outer.get();
  return at->slots[static_cast<size_t>(slot.index)];
}

void Interpreter::keep(const ScopePointer& scope) {
  if (scope->kept) return;
  scope->kept = true;
  kept_scopes_.push_back(scope);
}

/// What a template that is included here, or a scoped block, sees beside the context: assigned names, inner ones first.
void Interpreter::collect_locals(const ScopePointer& scope, Context& into) const {
  for (const Scope* at = scope.get(); at != nullptr; at = at->outer.get()) {
    for (size_t i = 0; i < at->slots.size(); ++i) {
      const ScopeLayout::Entry& entry = at->layout->entries[i];
      if (entry.stored && !at->slots[i].is_missing()) into.variables.emplace(entry.name, at->slots[i]);
    }
  }
}

}  // namespace lagoon::jinja
