#include "text/jinja/globals.h"

#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/python_repr.h"

#include <array>
#include <ctime>
#include <utility>

namespace lagoon::jinja {
namespace {

// The sandbox of Jinja2 refuses longer ranges.
constexpr int64_t range_limit = 100'000;

mpz_class range_argument(const Value& value) {
  if (!value.is_integer()) raise("TypeError", "'{}' object cannot be interpreted as an integer", type_name(value));
  return value.as_mpz();
}

Value range(Interpreter&, Arguments& arguments) {
  const Bound bound("range", arguments, {"start", "stop", "step"}, 1);
  const mpz_class begin = bound.has(1) ? range_argument(bound[0]) : mpz_class(0);
  const mpz_class end = range_argument(bound.has(1) ? bound[1] : bound[0]);
  const mpz_class step = bound.has(2) ? range_argument(bound[2]) : mpz_class(1);
  if (step == 0) raise("ValueError", "range() arg 3 must not be zero");
  const mpz_class span = step > 0 ? mpz_class(end - begin) : mpz_class(begin - end);
  const mpz_class count = span <= 0 ? mpz_class(0) : mpz_class((span - 1) / abs(step) + 1);
  const mpz_class far = mpz_class(1) << 60;  // keeps the arithmetic of Range inside 64 bits
  if (count > range_limit || abs(begin) > far || abs(end) > far || abs(step) > far) {
    raise("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE ({}).", range_limit);
  }
  return Value::object(std::make_shared<Range>(begin.get_si(), end.get_si(), step.get_si()));
}

/// dict(mapping or pairs, **named)
Dict make_dict(Interpreter& interpreter, Arguments& arguments) {
  if (arguments.values.size() > 1) raise("TypeError", "dict expected at most 1 argument, got {}", arguments.values.size());
  Dict out;
  if (!arguments.values.empty()) {
    const Value& source = arguments.values[0];
    require_defined(source);
    if (source.is_dict()) {
      interpreter.budget().step(source.as_dict().size() * 4);
      out = source.as_dict();
    } else {
      for (const Value& pair : to_vector(source)) {
        const std::vector<Value> parts = to_vector(pair);
        if (parts.size() != 2) raise("ValueError", "dictionary update sequence element has length {}; 2 is required", parts.size());
        charge_key(parts[0], interpreter.budget());
        out.set(parts[0], parts[1]);
      }
    }
  }
  interpreter.budget().step(arguments.named.size() * 8);
  for (auto& [name, value] : arguments.named) out.set(name, std::move(value));  // a name may come from ** of data
  return out;
}

Value dict(Interpreter& interpreter, Arguments& arguments) { return Value::dict(make_dict(interpreter, arguments)); }

/// The name `dict`, which has a method of its own.
class DictFunction : public Function {
 public:
  DictFunction() : Function("dict", dict) {}
  Value attribute(std::string_view name) const override {
    if (name != "fromkeys") return {};
    const Method method = find_container_method(Value::dict({}), name);
    const Body body = [method](Interpreter& interpreter, Arguments& arguments) { return method(interpreter, Value::dict({}), arguments); };
    return Value::object(std::make_shared<Function>("fromkeys", body));
  }
};

Value make_namespace(Interpreter& interpreter, Arguments& arguments) {
  const Dict attributes = make_dict(interpreter, arguments);
  interpreter.budget().step(attributes.size() * 8);
  const std::shared_ptr<Namespace> space = interpreter.make_namespace();
  for (const auto& [name, value] : attributes.entries()) space->set(name, value);
  return Value::object(space);
}

Value raise_exception(Interpreter&, Arguments& arguments) {
  const Bound bound("raise_exception", arguments, {"message"}, 1);
  throw Raised{"TemplateError", bound[0].is_text() ? bound[0].bytes() : str(bound[0]).text(), {}};
}

Value strftime_now(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("strftime_now", arguments, {"format"}, 1);
  const std::string& format = bound.text(0).bytes();
  interpreter.budget().step(32 + format.size());
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  localtime_r(&now, &parts);
  constexpr size_t room = 4096;
  std::array<char, room> buffer = {};
  // The mark at the end tells an empty result from one that does not fit.
  const std::string marked = format + "|";
  const size_t size = std::strftime(buffer.data(), buffer.size(), marked.c_str(), &parts);  // NOLINT(clang-diagnostic-format-nonliteral)
  if (size == 0) raise("LimitError", "a date is longer than {} bytes", room);
  return Value::data(std::string_view(buffer.data(), size - 1));
}

/// cycler('odd', 'even'): next() goes round. Its methods share the state with it.
class Cycler : public Object {
 public:
  explicit Cycler(std::vector<Value> items) : state_(std::make_shared<State>()) {
    for (const Value& item : items) holds(item);
    state_->items = std::move(items);
  }
  const char* type_name() const override { return "Cycler"; }
  Value attribute(std::string_view name) const override {
    const std::shared_ptr<State> state = state_;
    if (name == "current") return state->items[state->at];
    if (name == "next") {
      return Value::object(std::make_shared<Function>("next", [state](Interpreter&, Arguments&) {
        const size_t at = std::exchange(state->at, (state->at + 1) % state->items.size());
        return state->items[at];
      }));
    }
    if (name != "reset") return {};
    return Value::object(std::make_shared<Function>("reset", [state](Interpreter&, Arguments&) {
      state->at = 0;
      return Value::none();
    }));
  }

 private:
  struct State {
    std::vector<Value> items;
    size_t at = 0;
  };
  std::shared_ptr<State> state_;
};

Value cycler(Interpreter&, Arguments& arguments) {
  if (!arguments.named.empty()) raise("TypeError", "Cycler() got an unexpected keyword argument '{}'", arguments.named[0].first);
  if (arguments.values.empty()) raise("RuntimeError", "at least one item has to be provided");
  return Value::object(std::make_shared<Cycler>(arguments.values));
}

/// joiner(', '): nothing the first time, the separator from then on.
Value joiner(Interpreter&, Arguments& arguments) {
  const Bound bound("joiner", arguments, {"sep"}, 0);
  const Value separator = bound.has(0) ? bound[0] : Value::text(", ", Origin::from_template);
  const auto used = std::make_shared<bool>(false);
  const Function::Body body = [separator, used](Interpreter&, Arguments&) {
    return std::exchange(*used, true) ? separator : Value::text(MarkedText());
  };
  auto function = std::make_shared<Function>("joiner", body);
  function->bind(separator);
  return Value::object(std::move(function));
}

class TemplateReference : public Object {
 public:
  TemplateReference(const Template& tree, Context* context) : tree_(tree), context_(context) {}
  const char* type_name() const override { return "TemplateReference"; }
  std::string repr() const override { return "<TemplateReference None>"; }
  Value attribute(std::string_view name) const override {
    for (const BlockStatement* block : tree_.blocks) {
      if (block->name != name) continue;
      const Template* tree = &tree_;
      Context* context = context_;
      const Function::Body body = [block, tree, context](Interpreter& interpreter, Arguments&) {
        return interpreter.call_block(*block, context, *tree);
      };
      return Value::object(std::make_shared<Function>(block->name, body));
    }
    return {};
  }

 private:
  const Template& tree_;
  Context* context_;
};

void add(Context& context, const char* name, Function::Body body, const char* repr = "") {
  context.variables[name] = Value::object(std::make_shared<Function>(name, std::move(body), repr));
}

}  // namespace

void add_globals(Context& context) {
  add(context, "range", range);
  add(context, "namespace", make_namespace);
  add(context, "raise_exception", raise_exception);
  add(context, "strftime_now", strftime_now);
  add(context, "cycler", cycler, "<class 'jinja2.utils.Cycler'>");
  add(context, "joiner", joiner, "<class 'jinja2.utils.Joiner'>");
  context.variables["dict"] = Value::object(std::make_shared<DictFunction>());
}

Value make_self(const Template& tree, Context* context) { return Value::object(std::make_shared<TemplateReference>(tree, context)); }

}  // namespace lagoon::jinja
