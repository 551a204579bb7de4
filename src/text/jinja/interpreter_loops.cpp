// The `for` statement and its variable `loop`.
#include "text/jinja/arguments.h"
#include "text/jinja/interpreter_guards.h"
#include "text/jinja/operators.h"

#include <algorithm>

namespace lagoon::jinja {

std::string Loop::repr() const { return fmt::format("<LoopContext {}/{}>", index0_ + 1, length()); }

bool Loop::peek() const {
  if (!next_.is_missing()) return true;
  if (!ahead_.empty()) {
    next_ = ahead_.back();
    ahead_.pop_back();
    return true;
  }
  if (items_.next(next_)) return true;
  next_ = Value();  // a lazy sequence leaves the last item that it dropped
  return false;
}

bool Loop::advance(Value& item) {
  if (!peek()) return false;
  item = std::move(next_);
  next_ = Value();
  ++index0_;
  previous_ = current_;
  current_ = item;
  return true;
}

size_t Loop::length() const {
  if (length_) return *length_;
  const bool has_next = !next_.is_missing();
  for (Value item; items_.next(item);) ahead_.push_back(item);
  std::reverse(ahead_.begin(), ahead_.end());
  length_ = static_cast<size_t>(index0_ + 1) + ahead_.size() + (has_next ? 1 : 0);
  return *length_;
}

bool Loop::changed(const std::vector<Value>& values, Budget& budget) {
  const bool same =
      last_changed_ && last_changed_->size() == values.size() &&
      std::equal(values.begin(), values.end(), last_changed_->begin(), [&](const Value& a, const Value& b) { return equals(a, b, budget); });
  last_changed_ = values;
  return !same;
}

Value Loop::cycle(const std::vector<Value>& values) const {
  if (values.empty()) raise("TypeError", "no items for cycling given");
  return values[static_cast<size_t>(index0_) % values.size()];
}

Value Loop::attribute(std::string_view name) const {
  const auto size = [this] { return static_cast<int64_t>(length()); };
  if (name == "index0") return Value::integer(index0_);
  if (name == "index") return Value::integer(index0_ + 1);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(!peek());
  if (name == "length") return Value::integer(size());
  if (name == "revindex0") return Value::integer(size() - index0_ - 1);
  if (name == "revindex") return Value::integer(size() - index0_);
  if (name == "depth0") return Value::integer(depth0_);
  if (name == "depth") return Value::integer(depth0_ + 1);
  if (name == "previtem") return index0_ == 0 ? undefined("there is no previous item") : previous_;
  if (name == "nextitem") return peek() ? next_ : undefined("there is no next item");
  return {};
}

/// The methods of `loop`, bound to it.
Value Interpreter::loop_method(const Value& loop, std::string_view name) {
  const auto bound = [&](Function::Body body) {
    auto function = std::make_shared<Function>(std::string(name), std::move(body));
    function->bind(loop);
    return Value::object(std::move(function));
  };
  if (name == "cycle") {
    return bound([loop](Interpreter&, Arguments& arguments) { return loop.as<Loop>()->cycle(arguments.values); });
  }
  if (name != "changed") return {};
  return bound([loop](Interpreter& interpreter, Arguments& arguments) {
    return Value::boolean(loop.as<Loop>()->changed(arguments.values, interpreter.budget()));
  });
}

/// The items for which the loop's own `if` holds, drawn one by one as the loop asks for them.
Value Interpreter::filtered(const ForStatement& node, const Value& iterable, const ScopePointer& scope) {
  const auto items = std::make_shared<Iterator>(iterable);
  const ScopePointer inner = enter(node.test_scope, scope);
  const auto next = [this, &node, items, inner](Value& item) {
    while (items->next(item)) {
      budget_.step();
      assign(*node.test_target, item, inner);
      if (truth(evaluate(*node.test, inner))) return true;
    }
    return false;
  };
  return Value::object(std::make_shared<Generator>(iterable, next));
}

Interpreter::Flow Interpreter::execute(const ForStatement& node, const ScopePointer& scope) {
  const Value iterable = evaluate(*node.iterable, scope);
  if (!node.recursive) return run_loop(node, iterable, 0, scope);
  MarkedText text;
  {
    Sink sink(*this);
    run_loop(node, iterable, 0, scope);  // a recursive loop is a function: nothing leaves it but its text
    text = sink.take();
  }
  out_->append(text);
  return Flow::normal;
}

Interpreter::Flow Interpreter::run_loop(const ForStatement& node, const Value& iterable, int depth0, const ScopePointer& scope) {
  if (node.test || node.recursive) keep(scope);  // the loop refers to the scope, and may be stored in it
  const Value items = node.test ? filtered(node, iterable, scope) : iterable;
  const auto loop = std::make_shared<Loop>(Iterator(items), length_of(items), depth0, node.recursive ? &node : nullptr, scope);
  loop->walks(items);
  const ScopePointer inner = enter(node.body_scope, scope);
  const Value loop_value = node.loop_slot >= 0 ? Value::object(loop) : Value();
  bool completed_round = false;
  for (Value item; loop->advance(item);) {
    budget_.step(3);  // a round with nothing in it costs as much as three expressions
    if (node.loop_slot >= 0) inner->slots[static_cast<size_t>(node.loop_slot)] = loop_value;
    assign(*node.target, item, inner);
    reload(*inner);
    const Flow flow = run(node.body, inner);
    if (flow == Flow::break_loop) break;
    if (flow == Flow::normal) completed_round = true;
  }
  // A scope that a macro kept outlives the loop, but its variables end with it.
  std::fill(inner->slots.begin(), inner->slots.end(), Value());
  if (completed_round || node.otherwise.empty()) return Flow::normal;
  return run(node.otherwise, enter(node.otherwise_scope, scope));
}

Value Interpreter::call_loop(const Loop& loop, Arguments& arguments) {
  const Bound bound("loop", arguments, {"iterable"}, 1);
  if (loop.recursive() == nullptr) raise("TypeError", "The loop must have the 'recursive' marker to be called recursively.");
  const Inside inside(*this, *tree_, context_);
  Sink sink(*this);
  run_loop(*loop.recursive(), bound[0], loop.depth0() + 1, loop.scope());
  return captured(sink.take());
}

}  // namespace lagoon::jinja
