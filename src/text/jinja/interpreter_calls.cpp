// Calls: macros, functions, filters and tests.
#include "text/jinja/filters.h"
#include "text/jinja/interpreter_guards.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/tests.h"

#include <algorithm>
#include <array>

namespace lagoon::jinja {

std::string Macro::repr() const { return statement_.name.empty() ? "<Macro anonymous>" : fmt::format("<Macro {}>", repr_of_text(statement_.name)); }

Value Macro::attribute(std::string_view name) const {
  if (name == "name") return statement_.name.empty() ? Value::none() : Value::text(statement_.name, Origin::from_template);
  if (name == "catch_kwargs") return Value::boolean(statement_.kwargs_slot >= 0);
  if (name == "catch_varargs") return Value::boolean(statement_.varargs_slot >= 0);
  if (name == "caller") return Value::boolean(statement_.caller_slot >= 0);
  if (name != "arguments") return {};
  std::vector<Value> names;
  names.reserve(statement_.signature.names.size());
  for (const std::string& argument : statement_.signature.names) names.push_back(Value::text(argument, Origin::from_template));
  return Value::tuple(std::move(names));
}

Arguments Interpreter::evaluate_arguments(const CallArguments& node, const ScopePointer& scope) {
  Arguments arguments;
  arguments.values.reserve(node.values.size() + 1);
  for (const auto& value : node.values) arguments.values.push_back(evaluate(*value, scope));
  if (node.spread_values) {
    const Value spread = evaluate(*node.spread_values, scope);
    const std::vector<Value> items = to_vector(spread);
    budget_.step(items.size());
    arguments.values.insert(arguments.values.end(), items.begin(), items.end());
    budget_.list(arguments.values.size());
  }
  for (const auto& [name, value] : node.named) arguments.named.emplace_back(name, evaluate(*value, scope));
  if (!node.spread_named) return arguments;
  const Value spread = evaluate(*node.spread_named, scope);
  if (!spread.is_dict()) raise("TypeError", "argument after ** must be a mapping, not {}", type_name(spread));
  for (const auto& [key, value] : spread.as_dict().entries()) {
    if (!key.is_text()) raise("TypeError", "keywords must be strings");
    const std::string& keyword = key.bytes();
    budget_.step(8 + keyword.size() / 16 + arguments.named.size() / 8);  // each name is looked for among those before it
    const auto same = [&](const auto& named) { return named.first == keyword; };
    if (std::any_of(arguments.named.begin(), arguments.named.end(), same)) {
      raise("TypeError", "got multiple values for keyword argument '{}'", keyword);
    }
    arguments.named.emplace_back(keyword, value);
  }
  return arguments;
}

Value Interpreter::call(const Value& callee, Arguments& arguments) {
  if (const auto* macro = callee.as<Macro>()) return call_macro(*macro, arguments);
  if (const auto* function = callee.as<Function>()) return function->call(*this, arguments);
  if (const auto* loop = callee.as<Loop>()) return call_loop(*loop, arguments);
  require_defined(callee);
  raise("TypeError", "'{}' object is not callable", type_name(callee));
}

void Interpreter::bind_macro_arguments(const Macro& macro, Arguments& arguments, Scope& scope) {
  const MacroStatement& statement = macro.statement();
  const auto& names = statement.signature.names;
  const auto take_named = [&](std::string_view name) {
    budget_.step(arguments.named.size() / 4 + 1);
    const auto found = std::find_if(arguments.named.begin(), arguments.named.end(), [&](const auto& named) { return named.first == name; });
    if (found == arguments.named.end()) return Value();
    Value value = std::move(found->second);
    arguments.named.erase(found);
    return value;
  };
  const size_t by_position = std::min(arguments.values.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    scope.slots[static_cast<size_t>(statement.argument_slots[i])] = i < by_position ? arguments.values[i] : take_named(names[i]);
  }
  if (statement.caller_slot >= 0) {
    Value caller = take_named("caller");
    scope.slots[static_cast<size_t>(statement.caller_slot)] = caller.is_missing() ? undefined("No caller defined") : std::move(caller);
  }
  const std::string shown = statement.name.empty() ? "None" : repr_of_text(statement.name);
  if (statement.kwargs_slot >= 0) {
    Dict rest;
    for (auto& [name, value] : arguments.named) rest.set(name, std::move(value));  // a name may come from ** of data
    scope.slots[static_cast<size_t>(statement.kwargs_slot)] = Value::dict(std::move(rest));
  } else if (!arguments.named.empty()) {
    raise("TypeError", "macro {} takes no keyword argument {}", shown, repr_of_text(arguments.named[0].first));
  }
  if (statement.varargs_slot >= 0) {
    std::vector<Value> rest(arguments.values.begin() + static_cast<std::ptrdiff_t>(by_position), arguments.values.end());
    scope.slots[static_cast<size_t>(statement.varargs_slot)] = Value::tuple(std::move(rest));
  } else if (arguments.values.size() > names.size()) {
    raise("TypeError", "macro {} takes not more than {} argument(s)", shown, names.size());
  }
}

Value Interpreter::call_macro(const Macro& macro, Arguments& arguments) {
  const MacroStatement& statement = macro.statement();
  const Inside inside(*this, macro.tree(), macro.context());
  Sink sink(*this);
  const ScopePointer scope = enter(statement.scope, macro.scope());
  bind_macro_arguments(macro, arguments, *scope);
  const auto& names = statement.signature.names;
  const size_t without_default = names.size() - statement.signature.defaults.size();
  for (size_t i = 0; i < names.size(); ++i) {
    Value& value = scope->slots[static_cast<size_t>(statement.argument_slots[i])];
    if (!value.is_missing()) continue;
    if (i < without_default) {
      value = undefined(fmt::format("parameter {} was not provided", repr_of_text(names[i])));
    } else {
      value = evaluate(*statement.signature.defaults[i - without_default], scope);
    }
  }
  run(statement.body, scope);
  return captured(sink.take());
}

/// Filters that look at each character or change it take many times what copying a text takes.
static bool visits_each_character(std::string_view name) {
  constexpr std::array<std::string_view, 16> names = {"capitalize", "e",      "escape",    "filesizeformat", "float", "forceescape",
                                                      "int",        "lower",  "reverse",   "striptags",      "title", "unique",
                                                      "upper",      "urlize", "urlencode", "wordwrap"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

Value Interpreter::call_filter(std::string_view name, Arguments& arguments) {
  const Filter filter = find_filter(name);
  if (filter == nullptr) raise("TemplateRuntimeError", "No filter named {}.", repr_of_text(name));
  budget_.step();
  if (!arguments.values.empty() && arguments.values[0].is_text() && visits_each_character(name)) budget_.visit(arguments.values[0].bytes().size());
  return filter(*this, arguments);
}

bool Interpreter::call_test(std::string_view name, Arguments& arguments) {
  const Test test = find_test(name);
  if (test == nullptr) raise("TemplateRuntimeError", "No test named {}.", repr_of_text(name));
  budget_.step();
  return test(*this, arguments);
}

/// A chain of filters whose first operand, left out in the source, is `operand`.
Value Interpreter::apply_filters(const Expression& filter, const Value& operand, const ScopePointer& scope) {
  const Depth depth(*this);
  const auto& node = std::get<FilterExpression>(filter.node);
  Arguments arguments = evaluate_arguments(node.arguments, scope);
  arguments.values.insert(arguments.values.begin(), node.operand ? apply_filters(*node.operand, operand, scope) : operand);
  return call_filter(node.name, arguments);
}

}  // namespace lagoon::jinja
