#include "base/error.h"
#include "base/impostor.h"
#include "base/json.h"
#include "base/utf8.h"
#include "text/jinja/json.h"

#include <nlohmann/json.hpp>

namespace lagoon::jinja {
namespace {

/// Builds values while the parser reads.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view text, std::string_view what, std::string_view advice) : text_(text), what_(what), advice_(advice) {}
  Value take() { return std::move(root_); }

  bool null() override { return add(Value::none()); }
  bool boolean(bool value) override { return add(Value::boolean(value)); }
  bool number_integer(number_integer_t value) override { return add(Value::integer(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Value::integer(mpz_class(value))); }
  bool number_float(number_float_t value, const string_t& text) override {
    // An integer that does not fit 64 bits arrives here, with its digits.
    if (text.find_first_of(".eE") == std::string::npos) return add(Value::integer(mpz_class(text)));
    return add(Value::real(value));
  }
  bool string(string_t& value) override { return add(Value::text(value, Origin::from_data)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(true); }
  bool end_object() override {
    Value value = Value::dict(std::move(open_.back().dict));
    open_.pop_back();
    return add(std::move(value));
  }
  bool start_array(std::size_t) override { return open(false); }
  bool end_array() override {
    Value value = Value::list(std::move(open_.back().list));
    open_.pop_back();
    return add(std::move(value));
  }
  bool key(string_t& key) override {
    if (open_.back().dict.find(key) != nullptr) fail(ErrorKind::invalid, "{}: the key `{}` stands twice in one object", what_, printable(key));
    open_.back().key = key;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& reason) override {
    if (const std::string fault = json_fault(reason.what()); fault.ends_with("is too large")) {
      fail(ErrorKind::invalid, "{} is not JSON that can be read (byte {}: {}){}", what_, position, fault, advice_);
    }
    // The position counts the bytes read, the one that does not fit included.
    const size_t byte = position == 0 ? 0 : position - 1;
    const std::string found = byte >= text_.size() ? "end of text" : "`" + printable(text_.substr(byte, 1)) + "`";
    fail(ErrorKind::invalid, "{} is not JSON (byte {}: {}){}", what_, byte, found, advice_);
  }

 private:
  struct Open {
    bool object;
    std::string key;
    Dict dict;
    std::vector<Value> list;
  };

  bool open(bool object) {
    if (open_.size() >= json_depth_limit) fail(ErrorKind::invalid, "{}: JSON is nested more than {} deep", what_, json_depth_limit);
    open_.push_back({object, {}, {}, {}});
    return true;
  }
  bool add(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().object) {
      open_.back().dict.set(open_.back().key, std::move(value));
    } else {
      open_.back().list.push_back(std::move(value));
    }
    return true;
  }

  std::string_view text_;
  std::string_view what_;
  std::string_view advice_;
  std::vector<Open> open_;
  Value root_;
};

}  // namespace

Value read_json(std::string_view text, std::string_view what, std::string_view advice) {
  refuse_other_encoding(text, what);
  if (!is_valid_utf8(text)) fail(ErrorKind::invalid, "{} is not valid UTF-8{}", what, advice);
  // The parser would take a NUL as the end of the text, and never see what follows.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    fail(ErrorKind::invalid, "{} is not JSON (byte {}: `{}`){}", what, nul, printable(text.substr(nul, 1)), advice);
  }
  Builder builder(text, what, advice);
  nlohmann::json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace lagoon::jinja
