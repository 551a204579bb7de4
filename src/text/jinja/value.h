// value.h: the values of the template language: Python's None, bool, int (without limit), float, str, list, tuple, dict,
// and objects (objects.h). Values are immutable and cheap to copy; only namespaces change.
//
// Every string is a MarkedText, so it knows byte by byte who wrote it. Origin of text that is not a string's:
//   text made out of a value that is not a string (a number, a list, JSON) is from_data, whatever the value came from.
// This is the safe side: such text never holds a control token that the template meant.
#pragma once

#include "text/marked_text.h"

#include <gmpxx.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lagoon::jinja {

class Value;
class Dict;
class Object;

struct Text {
  MarkedText marked;
  size_t characters = 0;  // code points
  bool markup = false;    // HTML that is already escaped (the filters `e` and `safe`)

  bool ascii() const { return characters == marked.size(); }
};

struct Sequence {
  std::vector<Value> items;
  int depth = 1;       // 1 + the deepest item
  bool group = false;  // a tuple of the filter `groupby`: (grouper, list)
};

class Value {
 public:
  enum class Kind { missing, none, boolean, integer, big_integer, real, text, list, tuple, dict, object };

  /// A variable that has no value yet. Never seen by templates.
  Value() = default;

  static Value none() { return Value(None{}); }
  static Value boolean(bool value) { return Value(value); }
  static Value integer(int64_t value) { return Value(value); }
  static Value integer(const mpz_class& value);
  static Value real(double value) { return Value(value); }
  static Value text(MarkedText text, bool markup = false);
  static Value text(std::string_view text, Origin origin) { return Value::text(MarkedText(text, origin)); }
  /// Text that is made out of a value that is not a string.
  static Value data(std::string_view text) { return Value::text(MarkedText(text, Origin::from_data)); }
  static Value list(std::vector<Value> items);   // throws Raised where the nesting passes value_depth_limit
  static Value tuple(std::vector<Value> items);  // the same
  static Value dict(Dict dict);                  // the same
  /// A tuple whose two items also go by the names `grouper` and `list`.
  static Value group(Value grouper, Value list);
  static Value object(std::shared_ptr<Object> object);

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_missing() const { return kind() == Kind::missing; }
  bool is_none() const { return kind() == Kind::none; }
  bool is_boolean() const { return kind() == Kind::boolean; }
  bool is_integer() const { return kind() == Kind::integer || kind() == Kind::big_integer || kind() == Kind::boolean; }  // as isinstance(x, int)
  bool is_real() const { return kind() == Kind::real; }
  bool is_number() const { return is_integer() || is_real(); }
  bool is_text() const { return kind() == Kind::text; }
  bool is_list() const { return kind() == Kind::list; }
  bool is_tuple() const { return kind() == Kind::tuple; }
  bool is_dict() const { return kind() == Kind::dict; }
  bool is_object() const { return kind() == Kind::object; }

  bool as_boolean() const { return std::get<bool>(data_); }
  double as_real() const { return std::get<double>(data_); }
  const Text& as_text() const { return *std::get<std::shared_ptr<const Text>>(data_); }
  const MarkedText& marked() const { return as_text().marked; }
  const std::string& bytes() const { return as_text().marked.text(); }
  const std::vector<Value>& items() const;  // of a list or tuple
  bool is_group() const { return is_tuple() && std::get<std::shared_ptr<const TuplePayload>>(data_)->group; }
  const Dict& as_dict() const { return *std::get<std::shared_ptr<const Dict>>(data_); }
  Object& as_object() const { return *std::get<std::shared_ptr<Object>>(data_); }
  const std::shared_ptr<Object>& object_pointer() const { return std::get<std::shared_ptr<Object>>(data_); }

  /// The object as T, or null where this is something else.
  template <typename T>
  T* as() const {
    return is_object() ? dynamic_cast<T*>(std::get<std::shared_ptr<Object>>(data_).get()) : nullptr;
  }

  /// The value of an int or bool. @pre is_integer()
  mpz_class as_mpz() const;
  /// The same where it fits 64 bits.
  std::optional<int64_t> as_small() const;

  /// Nesting: 0 for scalars.
  int depth() const;
  /// True where no other Value shares the payload: it was just made.
  bool fresh() const;
  /// Python's `is`.
  bool same_as(const Value& other) const;
  /// Bytes that this value holds by itself, not counting what its items hold.
  size_t own_bytes() const;

 private:
  struct None {};
  struct ListPayload : Sequence {};
  struct TuplePayload : Sequence {};
  using Data =
      std::variant<std::monostate, None, bool, int64_t, std::shared_ptr<const mpz_class>, double, std::shared_ptr<const Text>,
                   std::shared_ptr<const ListPayload>, std::shared_ptr<const TuplePayload>, std::shared_ptr<const Dict>, std::shared_ptr<Object>>;
  explicit Value(Data data) : data_(std::move(data)) {}
  Data data_;
};

/// A mapping in insertion order. Keys compare as in Python: 1, 1.0 and true are one key.
class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  int depth() const { return depth_; }

  /// Adds an entry, or gives a known key its new value in its old place.
  /// @throws Raised (TypeError) for a key that cannot be hashed
  void set(Value key, Value value);
  void set(std::string_view key, Value value, Origin origin = Origin::from_data);

  const Value* find(const Value& key) const;  // throws like set
  const Value* find(std::string_view key) const;

 private:
  size_t index_of(const std::string& encoded) const;

  std::vector<Entry> entries_;
  std::map<std::string, size_t, std::less<>> index_;  // encoded key -> position; a tree, so that no data makes it slow
  int depth_ = 1;
};

/// Anything else that a template can hold. A subclass per thing: objects.h.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  virtual const char* type_name() const = 0;
  virtual std::string repr() const;
  virtual bool truth() const { return true; }
  virtual bool callable() const { return false; }
  /// The attribute, or missing. Names that begin with an underscore never get here.
  virtual Value attribute(std::string_view name) const;
  int depth() const { return depth_; }

 protected:
  /// Makes this object one level deeper than `value`; throws Raised past value_depth_limit.
  void holds(const Value& value);

 private:
  int depth_ = 1;
};

/// Python's type(value).__name__.
std::string type_name(const Value& value);

/// bool(value).
bool truth(const Value& value);

/// A key as text: equal keys and only those have equal encodings. @throws Raised (TypeError) for lists and dicts
std::string encode_key(const Value& key);

}  // namespace lagoon::jinja
