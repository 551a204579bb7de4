#include "text/jinja/value.h"

#include "text/jinja/limits.h"
#include "text/jinja/objects.h"
#include "text/jinja/template_error.h"

#include <algorithm>
#include <cmath>

namespace lagoon::jinja {
namespace {

size_t count_characters(std::string_view text) {
  size_t count = 0;
  for (const char byte : text) count += (static_cast<unsigned char>(byte) & 0xc0) != 0x80 ? 1 : 0;
  return count;
}

int checked_depth(int depth) {
  if (depth > value_depth_limit) raise("RecursionError", "values are nested more than {} deep", value_depth_limit);
  return depth;
}

int deepest(const std::vector<Value>& items) {
  int depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  return checked_depth(depth + 1);
}

std::string encode_real(double value) {
  if (!std::isfinite(value)) return fmt::format("f{}", value);
  if (value == std::floor(value)) return "n" + mpz_class(value).get_str();
  return fmt::format("f{}", value);
}

}  // namespace

Value Value::integer(const mpz_class& value) {
  if (value.fits_slong_p()) return Value(Data(static_cast<int64_t>(value.get_si())));
  return Value(Data(std::make_shared<const mpz_class>(value)));
}

Value Value::text(MarkedText text, bool markup) {
  auto payload = std::make_shared<Text>();
  payload->characters = count_characters(text.text());
  payload->marked = std::move(text);
  payload->markup = markup;
  return Value(Data(std::shared_ptr<const Text>(std::move(payload))));
}

Value Value::list(std::vector<Value> items) {
  auto payload = std::make_shared<ListPayload>();
  payload->depth = deepest(items);
  payload->items = std::move(items);
  return Value(Data(std::shared_ptr<const ListPayload>(std::move(payload))));
}

Value Value::tuple(std::vector<Value> items) {
  auto payload = std::make_shared<TuplePayload>();
  payload->depth = deepest(items);
  payload->items = std::move(items);
  return Value(Data(std::shared_ptr<const TuplePayload>(std::move(payload))));
}

Value Value::group(Value grouper, Value list) {
  auto payload = std::make_shared<TuplePayload>();
  payload->items = {std::move(grouper), std::move(list)};
  payload->depth = deepest(payload->items);
  payload->group = true;
  return Value(Data(std::shared_ptr<const TuplePayload>(std::move(payload))));
}

Value Value::dict(Dict dict) {
  checked_depth(dict.depth());
  return Value(Data(std::make_shared<const Dict>(std::move(dict))));
}

Value Value::object(std::shared_ptr<Object> object) { return Value(Data(std::move(object))); }

const std::vector<Value>& Value::items() const {
  if (is_list()) return std::get<std::shared_ptr<const ListPayload>>(data_)->items;
  return std::get<std::shared_ptr<const TuplePayload>>(data_)->items;
}

mpz_class Value::as_mpz() const {
  if (is_boolean()) return as_boolean() ? 1 : 0;
  if (kind() == Kind::integer) return mpz_class(static_cast<long>(std::get<int64_t>(data_)));
  return *std::get<std::shared_ptr<const mpz_class>>(data_);
}

std::optional<int64_t> Value::as_small() const {
  if (is_boolean()) return as_boolean() ? 1 : 0;
  if (kind() == Kind::integer) return std::get<int64_t>(data_);
  return std::nullopt;
}

int Value::depth() const {
  switch (kind()) {
    case Kind::list:
      return std::get<std::shared_ptr<const ListPayload>>(data_)->depth;
    case Kind::tuple:
      return std::get<std::shared_ptr<const TuplePayload>>(data_)->depth;
    case Kind::dict:
      return as_dict().depth();
    case Kind::object:
      return as_object().depth();
    default:
      return 0;
  }
}

bool Value::fresh() const {
  switch (kind()) {
    case Kind::text:
      return std::get<std::shared_ptr<const Text>>(data_).use_count() == 1;
    case Kind::list:
      return std::get<std::shared_ptr<const ListPayload>>(data_).use_count() == 1;
    case Kind::tuple:
      return std::get<std::shared_ptr<const TuplePayload>>(data_).use_count() == 1;
    case Kind::dict:
      return std::get<std::shared_ptr<const Dict>>(data_).use_count() == 1;
    case Kind::object:
      return object_pointer().use_count() == 1;
    case Kind::big_integer:
      return true;
    default:
      return false;
  }
}

bool Value::same_as(const Value& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::none:
      return true;
    case Kind::real:
      return as_real() == other.as_real();
    case Kind::big_integer:
      return as_mpz() == other.as_mpz();
    case Kind::text:
      return &as_text() == &other.as_text() || bytes() == other.bytes();
    case Kind::list:
    case Kind::tuple:
      return &items() == &other.items();
    case Kind::dict:
      return &as_dict() == &other.as_dict();
    case Kind::object:
      return &as_object() == &other.as_object();
    case Kind::boolean:
      return as_boolean() == other.as_boolean();
    default:
      return as_small() == other.as_small();
  }
}

size_t Value::own_bytes() const {
  switch (kind()) {
    case Kind::text:
      return 64 + marked().size() + marked().runs().size() * sizeof(MarkedText::Run);
    case Kind::list:
    case Kind::tuple:
      return 64 + items().size() * sizeof(Value);
    case Kind::dict:
      return 64 + as_dict().size() * (sizeof(Dict::Entry) + 64);
    case Kind::object:
      return 128;
    case Kind::big_integer:
      return mpz_sizeinbase(std::get<std::shared_ptr<const mpz_class>>(data_)->get_mpz_t(), 2) / 8 + 32;
    default:
      return 0;
  }
}

void Dict::set(Value key, Value value) {
  const std::string encoded = encode_key(key);
  depth_ = std::max({depth_, key.depth() + 1, value.depth() + 1});
  const auto [at, added] = index_.emplace(encoded, entries_.size());
  if (added) {
    entries_.emplace_back(std::move(key), std::move(value));
  } else {
    entries_[at->second].second = std::move(value);
  }
}

void Dict::set(std::string_view key, Value value, Origin origin) { set(Value::text(key, origin), std::move(value)); }

size_t Dict::index_of(const std::string& encoded) const {
  const auto at = index_.find(encoded);
  return at == index_.end() ? entries_.size() : at->second;
}

const Value* Dict::find(const Value& key) const {
  const size_t at = index_of(encode_key(key));
  return at < entries_.size() ? &entries_[at].second : nullptr;
}

const Value* Dict::find(std::string_view key) const {
  const size_t at = index_of("s" + std::string(key));
  return at < entries_.size() ? &entries_[at].second : nullptr;
}

std::string Object::repr() const { return fmt::format("<{} object>", type_name()); }

Value Object::attribute(std::string_view) const { return {}; }

void Object::holds(const Value& value) { depth_ = std::max(depth_, checked_depth(value.depth() + 1)); }

std::string type_name(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::missing:
    case Value::Kind::none:
      return "NoneType";
    case Value::Kind::boolean:
      return "bool";
    case Value::Kind::integer:
    case Value::Kind::big_integer:
      return "int";
    case Value::Kind::real:
      return "float";
    case Value::Kind::text:
      return value.as_text().markup ? "Markup" : "str";
    case Value::Kind::list:
      return "list";
    case Value::Kind::tuple:
      return "tuple";
    case Value::Kind::dict:
      return "dict";
    case Value::Kind::object:
      break;
  }
  return value.as_object().type_name();
}

bool truth(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::missing:
    case Value::Kind::none:
      return false;
    case Value::Kind::boolean:
      return value.as_boolean();
    case Value::Kind::integer:
      return value.as_small() != 0;
    case Value::Kind::big_integer:
      return true;
    case Value::Kind::real:
      return value.as_real() != 0;
    case Value::Kind::text:
      return !value.marked().empty();
    case Value::Kind::list:
    case Value::Kind::tuple:
      return !value.items().empty();
    case Value::Kind::dict:
      return value.as_dict().size() != 0;
    case Value::Kind::object:
      break;
  }
  return value.as_object().truth();
}

std::string encode_key(const Value& key) {
  if (key.is_text()) return "s" + key.bytes();
  if (key.is_integer()) return "n" + key.as_mpz().get_str();
  if (key.is_real()) return encode_real(key.as_real());
  if (key.is_none()) return "0";
  if (key.is_tuple()) {
    static const size_t most = RenderLimits{}.output_bytes;
    std::string out = "t";
    for (const Value& item : key.items()) {
      const std::string encoded = encode_key(item);
      out += fmt::format("{}:{}", encoded.size(), encoded);
      if (out.size() > most) raise("LimitError", "a key of a mapping is longer than the limit of {} bytes", most);
    }
    return out;
  }
  if (is_undefined(key)) return "u";
  if (key.is_object() && key.as<DictView>() == nullptr) return fmt::format("o{}", static_cast<const void*>(&key.as_object()));
  raise("TypeError", "unhashable type: '{}'", type_name(key));
}

}  // namespace lagoon::jinja
