// objects.h: the values that are neither scalars nor containers: undefined, namespaces, ranges, views of a mapping, lazy
// sequences, functions. What belongs to the running interpreter (macros, loops) is in interpreter.h.
#pragma once

#include "text/jinja/value.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lagoon::jinja {

class Interpreter;

/// What a call passes: values by position, then values by name in the order written.
struct Arguments {
  std::vector<Value> values;
  std::vector<std::pair<std::string, Value>> named;
};

/// A name, attribute or element that does not exist. It prints as nothing; most other uses raise its error.
class Undefined : public Object {
 public:
  explicit Undefined(std::string message, const char* error_class = "UndefinedError") : message_(std::move(message)), error_class_(error_class) {}
  const char* type_name() const override { return "Undefined"; }
  std::string repr() const override { return "Undefined"; }
  bool truth() const override { return false; }
  bool callable() const override { return true; }
  [[noreturn]] void fail() const;

 private:
  std::string message_;
  const char* error_class_;
};

Value undefined(std::string message);
Value undefined_name(std::string_view name);
/// `object.name` or `object[name]` that does not exist.
Value undefined_of(const Value& object, const Value& name);
Value unsafe_attribute(const Value& object, std::string_view name);
bool is_undefined(const Value& value);
/// Raises the error of an undefined value; does nothing for any other.
void require_defined(const Value& value);

/// {% set ns = namespace(...) %}: the one value that changes.
class Namespace : public Object {
 public:
  const char* type_name() const override { return "TemplateNamespace"; }
  std::string repr() const override;
  Value attribute(std::string_view name) const override;
  void set(const Value& name, Value value);  // throws Raised (SecurityError) for names that begin with an underscore
  void clear() { attributes_ = {}; }
  const Dict& attributes() const { return attributes_; }

 private:
  Dict attributes_;
};

class Range : public Object {
 public:
  Range(int64_t begin, int64_t end, int64_t step) : begin_(begin), end_(end), step_(step) {}
  const char* type_name() const override { return "range"; }
  std::string repr() const override;
  bool truth() const override { return size() > 0; }
  Value attribute(std::string_view name) const override;
  int64_t size() const;
  int64_t at(int64_t index) const { return begin_ + index * step_; }
  int64_t step() const { return step_; }

 private:
  int64_t begin_, end_, step_;
};

/// d.keys(), d.values(), d.items()
class DictView : public Object {
 public:
  enum class Part { keys, values, items };
  DictView(Value dict, Part part);
  const char* type_name() const override;
  std::string repr() const override;
  bool truth() const override { return dict_.as_dict().size() > 0; }
  Part part() const { return part_; }
  const Value& dict() const { return dict_; }
  size_t size() const { return dict_.as_dict().size(); }
  Value at(size_t index) const;
  std::vector<Value> items() const;

 private:
  Value dict_;
  Part part_;
};

/// A lazy sequence that can be walked once: what `map`, `select`, `reverse` and their like give.
class Generator : public Object {
 public:
  using Next = std::function<bool(Value&)>;
  /// @param source  the value that it draws from, for the bound on nesting
  Generator(const Value& source, Next next, const char* type = "generator") : next_(std::move(next)), type_(type) { holds(source); }
  const char* type_name() const override { return type_; }
  /// The next item; false at the end, and from then on. A generator that draws from itself raises ValueError, as in Python.
  bool next(Value& item);

 private:
  Next next_;
  const char* type_;
  bool running_ = false;
};

/// A function, filter in disguise or bound method.
class Function : public Object {
 public:
  using Body = std::function<Value(Interpreter&, Arguments&)>;
  Function(std::string name, Body body, std::string repr = {}) : name_(std::move(name)), body_(std::move(body)), repr_(std::move(repr)) {}
  const char* type_name() const override { return "builtin_function_or_method"; }
  std::string repr() const override;
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, Arguments& arguments) const { return body_(interpreter, arguments); }
  const std::string& name() const { return name_; }
  /// Names `self` as the value that the function is bound to, for the bound on nesting.
  void bind(const Value& self) { holds(self); }

 private:
  std::string name_;
  Body body_;
  std::string repr_;
};

/// Walks any iterable once. Holds what it walks.
class Iterator {
 public:
  /// @throws Raised (TypeError) where `value` is not iterable
  explicit Iterator(const Value& value);
  bool next(Value& item);

 private:
  bool next_character(Value& item);

  Value value_;
  size_t at_ = 0;
};

bool is_iterable(const Value& value);
/// len(value), or nothing where it has none.
std::optional<size_t> length_of(const Value& value);
/// list(value)
std::vector<Value> to_vector(const Value& value);

}  // namespace lagoon::jinja
