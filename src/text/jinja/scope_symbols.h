// scope_symbols.h: the names of one scope while a template is resolved (resolver.h).
#pragma once

#include "text/jinja/ast.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace lagoon::jinja {

class ScopeSymbols {
 public:
  /// @param outer   the scope around this one, complete; null for a template or block
  /// @param layout  filled by finish()
  ScopeSymbols(const ScopeSymbols* outer, ScopeLayout& layout) : outer_(outer), layout_(&layout), slots_(&own_slots_) {}
  ScopeSymbols(const ScopeSymbols&) = delete;
  ScopeSymbols& operator=(const ScopeSymbols&) = delete;

  /// A name that whoever enters the scope fills. Gives its slot.
  int declare_parameter(const std::string& name);
  /// The names of a for or with target, as parameters.
  void declare_target(const Expression& target);
  /// Takes note of what the statements of this very scope read and assign, without the scopes inside.
  void analyze(const Body& body);
  /// Takes note of the names that an expression reads.
  void load_names(const Expression& expression);

  /// Where `name` is found from here. @pre it was analyzed here or further out
  Slot find(std::string_view name) const;

  /// Writes the layout; after this nothing may be added.
  void finish();

 private:
  struct Symbol {
    int index = 0;
    ScopeLayout::Load load = ScopeLayout::Load::nothing;
    Slot outside;
    bool parameter = false;
  };
  using Slots = std::map<std::string, int, std::less<>>;
  struct Branch {};

  /// A branch of an `if` in `base`: it sees the names of `base` and holds those that it adds.
  ScopeSymbols(const ScopeSymbols& base, Branch) : base_(&base), outer_(base.outer_), layout_(base.layout_), slots_(base.slots_) {}

  const Symbol* own(std::string_view name) const;
  bool is_stored(const std::string& name) const;
  void load(const std::string& name);
  void store(const std::string& name);
  void store_target(const Expression& target);
  Symbol& define(const std::string& name, ScopeLayout::Load load, Slot outside = {});
  void analyze_statement(const Statement& statement);
  void analyze_branches(const IfStatement& node);

  const ScopeSymbols* base_ = nullptr;
  const ScopeSymbols* outer_;
  ScopeLayout* layout_;
  Slots own_slots_;
  Slots* slots_;  // of the scope that all branches are part of: a name has one slot in all of them
  std::map<std::string, Symbol, std::less<>> symbols_;
  std::set<std::string> stores_;
};

/// True if the statements, scopes inside included but blocks not, read the variable `name`.
bool speaks_of(const Body& body, std::string_view name);
bool speaks_of(const Expression& expression, std::string_view name);

/// True if the loop or anything inside it assigns to `name`.
bool stores_name(const ForStatement& loop, std::string_view name);

}  // namespace lagoon::jinja
