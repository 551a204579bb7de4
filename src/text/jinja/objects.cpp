#include "text/jinja/objects.h"

#include "base/utf8.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/template_error.h"

namespace lagoon::jinja {
namespace {

Value attribute_or_missing(const Dict& attributes, std::string_view name) {
  const Value* found = attributes.find(name);
  return found == nullptr ? Value() : *found;
}

/// jinja2.utils.object_type_repr
std::string describe_type(const Value& object) {
  if (object.is_none()) return "None";
  return type_name(object) + " object";
}

}  // namespace

void Undefined::fail() const { throw Raised{error_class_, message_, {}}; }

Value undefined(std::string message) { return Value::object(std::make_shared<Undefined>(std::move(message))); }

Value undefined_name(std::string_view name) { return undefined(fmt::format("{} is undefined", repr_of_text(name))); }

Value undefined_of(const Value& object, const Value& name) {
  constexpr size_t shown_bytes = 200;  // the sentence is made even where nobody reads it
  if (name.is_text()) {
    const std::string_view text = name.bytes();
    const std::string shown = repr_of_text(text.substr(0, shown_bytes)) + (text.size() > shown_bytes ? "..." : "");
    return undefined(fmt::format("'{}' has no attribute {}", describe_type(object), shown));
  }
  const bool scalar = name.is_none() || name.is_real() || (name.is_integer() && name.as_small());
  const bool small = scalar || (name.is_tuple() && name.depth() == 1 && name.items().empty());
  return undefined(fmt::format("{} has no element {}", describe_type(object), small ? repr(name) : "that is a " + type_name(name)));
}

Value unsafe_attribute(const Value& object, std::string_view name) {
  const std::string message = fmt::format("access to attribute {} of '{}' object is unsafe.", repr_of_text(name), type_name(object));
  return Value::object(std::make_shared<Undefined>(message, "SecurityError"));
}

bool is_undefined(const Value& value) { return value.as<Undefined>() != nullptr; }

void require_defined(const Value& value) {
  if (const auto* object = value.as<Undefined>()) object->fail();
}

std::string Namespace::repr() const { return "<Namespace {...}>"; }

Value Namespace::attribute(std::string_view name) const { return attribute_or_missing(attributes_, name); }

void Namespace::set(const Value& name, Value value) {
  if (name.is_text() && !name.bytes().empty() && name.bytes()[0] == '_') {
    raise("SecurityError", "Chat templates cannot store underscore-prefixed attributes on a namespace, but got {}. Please rename the attribute.",
          repr_of_text(name.bytes()));
  }
  attributes_.set(name, std::move(value));
}

std::string Range::repr() const {
  if (step_ == 1) return fmt::format("range({}, {})", begin_, end_);
  return fmt::format("range({}, {}, {})", begin_, end_, step_);
}

Value Range::attribute(std::string_view name) const {
  if (name == "start") return Value::integer(begin_);
  if (name == "stop") return Value::integer(end_);
  if (name == "step") return Value::integer(step_);
  return {};
}

int64_t Range::size() const {
  if (step_ > 0) return begin_ < end_ ? (end_ - begin_ - 1) / step_ + 1 : 0;
  return begin_ > end_ ? (begin_ - end_ - 1) / -step_ + 1 : 0;
}

DictView::DictView(Value dict, Part part) : dict_(std::move(dict)), part_(part) { holds(dict_); }

const char* DictView::type_name() const {
  if (part_ == Part::keys) return "dict_keys";
  return part_ == Part::values ? "dict_values" : "dict_items";
}

std::string DictView::repr() const { return fmt::format("{}({})", type_name(), jinja::repr(Value::list(items()))); }

std::vector<Value> DictView::items() const {
  std::vector<Value> out;
  out.reserve(size());
  for (size_t index = 0; index < size(); ++index) out.push_back(at(index));
  return out;
}

Value DictView::at(size_t index) const {
  const auto& [key, value] = dict_.as_dict().entries()[index];
  if (part_ == Part::items) return Value::tuple({key, value});
  return part_ == Part::keys ? key : value;
}

bool Generator::next(Value& item) {
  if (!next_) return false;
  if (running_) raise("ValueError", "generator already executing");
  running_ = true;
  bool more = false;
  try {
    more = next_(item);
  } catch (...) {
    running_ = false;
    next_ = nullptr;
    throw;
  }
  running_ = false;
  if (!more) next_ = nullptr;
  return more;
}

std::string Function::repr() const { return repr_.empty() ? fmt::format("<function {}>", name_) : repr_; }

Iterator::Iterator(const Value& value) : value_(value) {
  if (!is_iterable(value)) raise("TypeError", "'{}' object is not iterable", type_name(value));
}

bool Iterator::next(Value& item) {
  if (value_.is_text()) return next_character(item);
  if (auto* generator = value_.as<Generator>()) return generator->next(item);
  if (is_undefined(value_)) return false;
  const size_t at = at_++;
  if (value_.is_list() || value_.is_tuple()) {
    if (at >= value_.items().size()) return false;
    item = value_.items()[at];
  } else if (value_.is_dict()) {
    if (at >= value_.as_dict().size()) return false;
    item = value_.as_dict().entries()[at].first;
  } else if (const auto* range = value_.as<Range>()) {
    if (static_cast<int64_t>(at) >= range->size()) return false;
    item = Value::integer(range->at(static_cast<int64_t>(at)));
  } else {
    const auto* view = value_.as<DictView>();
    if (at >= view->size()) return false;
    item = view->at(at);
  }
  return true;
}

bool Iterator::next_character(Value& item) {
  const MarkedText& text = value_.marked();
  if (at_ >= text.size()) return false;
  const size_t length = std::max<size_t>(1, valid_utf8_length(std::string_view(text.text()).substr(at_)));
  item = Value::text(text.slice(at_, length));
  at_ += length;
  return true;
}

bool is_iterable(const Value& value) {
  if (value.is_text() || value.is_list() || value.is_tuple() || value.is_dict()) return true;
  return value.as<Generator>() != nullptr || value.as<Range>() != nullptr || value.as<DictView>() != nullptr || is_undefined(value);
}

std::optional<size_t> length_of(const Value& value) {
  if (value.is_text()) return value.as_text().characters;
  if (value.is_list() || value.is_tuple()) return value.items().size();
  if (value.is_dict()) return value.as_dict().size();
  if (const auto* range = value.as<Range>()) return static_cast<size_t>(range->size());
  if (const auto* view = value.as<DictView>()) return view->size();
  if (is_undefined(value)) return 0;
  return std::nullopt;
}

std::vector<Value> to_vector(const Value& value) {
  if (value.is_list() || value.is_tuple()) return value.items();
  std::vector<Value> out;
  Iterator iterator(value);
  for (Value item; iterator.next(item);) out.push_back(item);
  return out;
}

}  // namespace lagoon::jinja
