#include "text/jinja/scope_symbols.h"

#include "text/jinja/ast_walk.h"

#include <algorithm>

namespace lagoon::jinja {
namespace {

bool target_holds(const Expression& target, std::string_view name) {
  if (const auto* variable = std::get_if<NameExpression>(&target.node)) return variable->name == name;
  bool found = false;
  if (std::holds_alternative<TupleExpression>(target.node)) {
    for_each_child(target, [&](const Expression& child) { found = found || target_holds(child, name); });
  }
  return found;
}

/// Walks all statements, those inside others included, until `expression` or `target` says true.
template <typename OnExpression, typename OnTarget>
class Search {
 public:
  Search(OnExpression expression, OnTarget target) : expression_(expression), target_(target) {}

  bool in(const Body& body) const {
    return std::any_of(body.begin(), body.end(),
                       [&](const auto& statement) { return std::visit([&](const auto& node) { return at(node); }, statement->node); });
  }
  bool at(const DataStatement&) const { return false; }
  bool at(const PrintStatement& node) const { return expression_(*node.value); }
  bool at(const SetStatement& node) const { return expression_(*node.value) || target_(*node.target); }
  bool at(const SetBlockStatement& node) const { return target_(*node.target) || maybe(node.filter) || in(node.body); }
  bool at(const ForStatement& node) const {
    return target_(*node.target) || expression_(*node.iterable) || maybe(node.test) || in(node.body) || in(node.otherwise);
  }
  bool at(const IfStatement& node) const {
    const auto in_branch = [&](const auto& branch) { return expression_(*branch.first) || in(branch.second); };
    return std::any_of(node.branches.begin(), node.branches.end(), in_branch) || in(node.otherwise);
  }
  bool at(const MacroStatement& node) const {
    const auto& defaults = node.signature.defaults;
    return std::any_of(defaults.begin(), defaults.end(), [&](const auto& value) { return expression_(*value); }) || in(node.body);
  }
  bool at(const CallBlockStatement& node) const { return expression_(*node.call) || at(*node.body); }
  bool at(const FilterBlockStatement& node) const { return expression_(*node.filter) || in(node.body); }
  bool at(const WithStatement& node) const {
    const auto in_one = [&](const auto& one) { return target_(*one.first) || expression_(*one.second); };
    return std::any_of(node.assignments.begin(), node.assignments.end(), in_one) || in(node.body);
  }
  bool at(const ScopeStatement& node) const { return maybe(node.autoescape) || in(node.body); }
  bool at(const BlockStatement&) const { return false; }
  bool at(const IncludeStatement& node) const { return expression_(*node.name); }
  bool at(const UnsupportedStatement&) const { return false; }
  bool at(const BreakStatement&) const { return false; }
  bool at(const ContinueStatement&) const { return false; }

 private:
  bool maybe(const ExpressionPointer& expression) const { return expression != nullptr && expression_(*expression); }

  OnExpression expression_;
  OnTarget target_;
};

}  // namespace

bool speaks_of(const Expression& expression, std::string_view name) {
  if (const auto* variable = std::get_if<NameExpression>(&expression.node)) return variable->name == name;
  bool found = false;
  for_each_child(expression, [&](const Expression& child) { found = found || speaks_of(child, name); });
  return found;
}

bool speaks_of(const Body& body, std::string_view name) {
  const auto reads = [&](const Expression& expression) { return speaks_of(expression, name); };
  const auto ignore = [](const Expression&) { return false; };
  return Search(reads, ignore).in(body);
}

bool stores_name(const ForStatement& loop, std::string_view name) {
  const auto ignore = [](const Expression&) { return false; };
  const auto stores = [&](const Expression& target) { return target_holds(target, name); };
  return Search(ignore, stores).at(loop);
}

ScopeSymbols::Symbol& ScopeSymbols::define(const std::string& name, ScopeLayout::Load load, Slot outside) {
  const auto [slot, added] = slots_->emplace(name, static_cast<int>(layout_->entries.size()));
  if (added) layout_->entries.push_back({name, ScopeLayout::Load::nothing, {}, false, false});
  Symbol& symbol = symbols_[name];
  symbol = {slot->second, load, outside, false};
  return symbol;
}

const ScopeSymbols::Symbol* ScopeSymbols::own(std::string_view name) const {
  for (const ScopeSymbols* part = this; part != nullptr; part = part->base_) {
    const auto found = part->symbols_.find(name);
    if (found != part->symbols_.end()) return &found->second;
  }
  return nullptr;
}

bool ScopeSymbols::is_stored(const std::string& name) const {
  for (const ScopeSymbols* part = this; part != nullptr; part = part->base_) {
    if (part->stores_.count(name) != 0) return true;
  }
  return false;
}

int ScopeSymbols::declare_parameter(const std::string& name) {
  stores_.insert(name);
  Symbol& symbol = define(name, ScopeLayout::Load::nothing);
  symbol.parameter = true;
  return symbol.index;
}

void ScopeSymbols::declare_target(const Expression& target) {
  if (const auto* name = std::get_if<NameExpression>(&target.node)) {
    declare_parameter(name->name);
  } else {
    for_each_child(target, [&](const Expression& child) { declare_target(child); });
  }
}

Slot ScopeSymbols::find(std::string_view name) const {
  int hops = 0;
  for (const ScopeSymbols* scope = this; scope != nullptr; scope = scope->outer_, ++hops) {
    if (const Symbol* symbol = scope->own(name)) return {hops, symbol->index};
  }
  return {};
}

void ScopeSymbols::load(const std::string& name) {
  if (find(name).hops < 0) define(name, ScopeLayout::Load::from_context);
}

void ScopeSymbols::load_names(const Expression& expression) {
  if (const auto* name = std::get_if<NameExpression>(&expression.node)) load(name->name);
  if (const auto* target = std::get_if<NamespaceTarget>(&expression.node)) load(target->name);
  for_each_child(expression, [&](const Expression& child) { load_names(child); });
}

void ScopeSymbols::store(const std::string& name) {
  stores_.insert(name);
  if (own(name) != nullptr) return;
  const Slot outside = outer_ == nullptr ? Slot{} : outer_->find(name);
  define(name, outside.hops < 0 ? ScopeLayout::Load::nothing : ScopeLayout::Load::from_outside, outside);
}

void ScopeSymbols::store_target(const Expression& target) {
  if (const auto* name = std::get_if<NameExpression>(&target.node)) return store(name->name);
  if (const auto* member = std::get_if<NamespaceTarget>(&target.node)) return load(member->name);
  for_each_child(target, [&](const Expression& child) { store_target(child); });
}

void ScopeSymbols::analyze(const Body& body) {
  for (const auto& statement : body) analyze_statement(*statement);
}

void ScopeSymbols::analyze_statement(const Statement& statement) {
  const auto& node = statement.node;
  if (const auto* print = std::get_if<PrintStatement>(&node)) load_names(*print->value);
  if (const auto* include = std::get_if<IncludeStatement>(&node)) load_names(*include->name);
  if (const auto* loop = std::get_if<ForStatement>(&node)) load_names(*loop->iterable);
  if (const auto* call = std::get_if<CallBlockStatement>(&node)) load_names(*call->call);
  if (const auto* filter = std::get_if<FilterBlockStatement>(&node)) load_names(*filter->filter);
  if (const auto* macro = std::get_if<MacroStatement>(&node)) store(macro->name);
  if (const auto* block = std::get_if<SetBlockStatement>(&node)) store_target(*block->target);
  if (const auto* branches = std::get_if<IfStatement>(&node)) analyze_branches(*branches);
  if (const auto* assignment = std::get_if<SetStatement>(&node)) {
    load_names(*assignment->value);
    store_target(*assignment->target);
  }
  if (const auto* with = std::get_if<WithStatement>(&node)) {
    for (const auto& [target, value] : with->assignments) load_names(*value);
  }
}

/// A name that only some branches assign keeps, in the others, what it is outside or in the context.
void ScopeSymbols::analyze_branches(const IfStatement& node) {
  load_names(*node.branches[0].first);
  ScopeSymbols first(*this, Branch{});
  first.analyze(node.branches[0].second);
  ScopeSymbols others(*this, Branch{});
  for (size_t i = 1; i < node.branches.size(); ++i) {
    others.load_names(*node.branches[i].first);
    others.analyze(node.branches[i].second);
  }
  ScopeSymbols last(*this, Branch{});
  last.analyze(node.otherwise);

  std::set<std::string> stored;
  for (const ScopeSymbols* branch : {&first, &others, &last}) {
    for (const auto& [name, symbol] : branch->symbols_) symbols_[name] = symbol;
    for (const std::string& name : branch->stores_) {
      if (!is_stored(name)) stored.insert(name);
    }
  }
  stores_.insert(stored.begin(), stored.end());
  for (const std::string& name : stored) {
    const Slot outside = outer_ == nullptr ? Slot{} : outer_->find(name);
    define(name, outside.hops < 0 ? ScopeLayout::Load::from_context : ScopeLayout::Load::from_outside, outside);
  }
}

void ScopeSymbols::finish() {
  for (const auto& [name, symbol] : symbols_) {
    ScopeLayout::Entry& entry = layout_->entries[static_cast<size_t>(symbol.index)];
    entry.load = symbol.load;
    entry.outside = symbol.outside;
    entry.parameter = symbol.parameter;
    entry.stored = stores_.count(name) != 0;
  }
}

}  // namespace lagoon::jinja
