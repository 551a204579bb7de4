#include "text/jinja/percent_format.h"

#include "base/utf8.h"
#include "text/jinja/number_format.h"
#include "text/jinja/numbers.h"
#include "text/jinja/objects.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/template_error.h"
#include "text/jinja/text_operations.h"
#include "text/jinja/unicode.h"

#include <optional>

namespace lagoon::jinja {
namespace {

class PercentFormatter {
 public:
  PercentFormatter(const MarkedText& format, const Value& values, Budget& budget)
      : format_(format), bytes_(format.text()), values_(values), budget_(budget) {}
  MarkedText run();

 private:
  char byte() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }
  Value next_value();
  int64_t star_or_number();
  void conversion();
  MarkedText converted(char type, const Value& value, FormatSpec& spec);
  MarkedText text_of(char type, const Value& value, const FormatSpec& spec) const;
  static MarkedText character(const Value& value);
  static mpz_class integer(char type, const Value& value);

  const MarkedText& format_;
  const std::string& bytes_;
  const Value& values_;
  Budget& budget_;
  std::optional<Value> keyed_;
  size_t at_ = 0;
  size_t used_ = 0;
  bool by_key_ = false;
  MarkedText out_;
};

MarkedText PercentFormatter::run() {
  budget_.scan(bytes_.size());
  while (at_ < bytes_.size()) {
    const size_t percent = std::min(bytes_.find('%', at_), bytes_.size());
    out_.append(format_.slice(at_, percent - at_));
    budget_.text(out_.size());
    at_ = percent + 1;
    if (percent < bytes_.size()) conversion();
  }
  const bool plain = !values_.is_tuple() && (values_.is_dict() || values_.is_list() || values_.is_object());
  const size_t given = values_.is_tuple() ? values_.items().size() : 1;
  if (!by_key_ && used_ < given && !(plain && !is_undefined(values_))) raise("TypeError", "not all arguments converted during string formatting");
  return std::move(out_);
}

Value PercentFormatter::next_value() {
  if (keyed_) return *keyed_;
  if (!values_.is_tuple()) {
    if (used_++ == 0) return values_;
  } else if (used_ < values_.items().size()) {
    return values_.items()[used_++];
  }
  raise("TypeError", "not enough arguments for format string");
}

int64_t PercentFormatter::star_or_number() {
  if (byte() == '*') {
    ++at_;
    const Value value = next_value();
    if (!value.is_integer()) raise("TypeError", "* wants int");
    return value.as_small().value_or(INT64_MAX);
  }
  int64_t number = 0;
  for (; byte() >= '0' && byte() <= '9'; ++at_) number = std::min<int64_t>(number * 10 + (byte() - '0'), INT32_MAX);
  return number;
}

void PercentFormatter::conversion() {
  budget_.step(4);
  keyed_.reset();
  if (byte() == '(') {
    const size_t close = bytes_.find(')', at_);
    if (close == std::string::npos) raise("ValueError", "incomplete format key");
    if (!values_.is_dict()) raise("TypeError", "format requires a mapping");
    const std::string key = bytes_.substr(at_ + 1, close - at_ - 1);
    budget_.step(8 + key.size() / 16);
    const Value* found = values_.as_dict().find(key);
    if (found == nullptr) raise("KeyError", "{}", repr_of_text(key));
    keyed_ = *found;
    by_key_ = true;
    at_ = close + 1;
  }
  FormatSpec spec;
  bool zero = false;
  for (; byte() != '\0' && std::string_view("-+ #0").find(byte()) != std::string_view::npos; ++at_) {
    if (byte() == '-') spec.align = '<';
    if (byte() == '+') spec.sign = '+';
    if (byte() == ' ' && spec.sign == '-') spec.sign = ' ';
    if (byte() == '#') spec.alternate = true;
    if (byte() == '0') zero = true;
  }
  const int64_t width = star_or_number();
  if (width < 0) spec.align = '<';
  spec.width = static_cast<size_t>(width < 0 ? -width : width);
  budget_.text(spec.width);
  if (byte() == '.') {
    ++at_;
    spec.precision = static_cast<int>(std::clamp<int64_t>(star_or_number(), 0, INT32_MAX));
  }
  while (byte() == 'h' || byte() == 'l' || byte() == 'L') ++at_;
  if (at_ >= bytes_.size()) raise("ValueError", "incomplete format");
  const char type = bytes_[at_++];
  if (type == '%') return out_.append(format_.slice(at_ - 1, 1));
  if (zero && spec.align == '\0') spec.fill = "0", spec.align = '=';
  const Value value = next_value();
  out_.append(pad(converted(type, value, spec), spec, '>'));
}

MarkedText PercentFormatter::text_of(char type, const Value& value, const FormatSpec& spec) const {
  MarkedText text = type == 's' ? str(value, budget_) : MarkedText(repr(value, budget_), Origin::from_data);
  if (spec.precision < 0) return text;
  const Value measured = Value::text(text);
  const auto keep = std::min<int64_t>(spec.precision, static_cast<int64_t>(measured.as_text().characters));
  return text_slice(measured.as_text(), 0, 1, keep);
}

MarkedText PercentFormatter::character(const Value& value) {
  if (value.is_text()) {
    if (value.as_text().characters != 1) raise("TypeError", "%c requires int or char");
    return value.marked();
  }
  if (!value.is_integer()) raise("TypeError", "%c requires int or char");
  const int64_t code = value.as_small().value_or(-1);
  if (code < 0 || code > 0x10ffff) raise("OverflowError", "%c arg not in range(0x110000)");
  std::string out;
  append_utf8(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : static_cast<char32_t>(code));
  return MarkedText(out, Origin::from_data);
}

mpz_class PercentFormatter::integer(char type, const Value& value) {
  if (value.is_integer()) return value.as_mpz();
  require_defined(value);
  const bool any_number = type == 'd' || type == 'i' || type == 'u';
  if (value.is_real() && any_number) return truncated(value.as_real()).as_mpz();
  raise("TypeError", "%{} format: {} is required, not {}", type, any_number ? "a real number" : "an integer", type_name(value));
}

MarkedText PercentFormatter::converted(char type, const Value& value, FormatSpec& spec) {
  const auto forget_zeros = [&] {
    if (spec.align == '=') spec.fill = " ", spec.align = '\0';
  };
  if (value.is_number()) charge_repr(value, budget_);
  budget_.step(static_cast<uint64_t>(std::max(spec.precision, 0)) / 8);
  switch (type) {
    case 's':
    case 'r':
    case 'a':
      forget_zeros();
      return text_of(type, value, spec);
    case 'c':
      forget_zeros();
      return character(value);
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
      spec.type = type == 'i' || type == 'u' ? 'd' : type;
      std::string text = format_integer(integer(type, value), spec);
      budget_.text(spec.precision < 0 ? 0 : static_cast<size_t>(spec.precision));
      const size_t first = text.find_first_not_of("+- ");
      const size_t digits = text.size() - first;
      if (spec.precision > static_cast<int>(digits)) text.insert(first, static_cast<size_t>(spec.precision) - digits, '0');
      return MarkedText(text, Origin::from_data);
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      require_defined(value);
      if (!value.is_number()) raise("TypeError", "must be real number, not {}", type_name(value));
      spec.type = type;
      return MarkedText(format_real(to_real(value), spec), Origin::from_data);
    default:
      raise("ValueError", "unsupported format character '{}'", printable(std::string(1, type)));
  }
}

}  // namespace

MarkedText percent_format(const MarkedText& format, const Value& values, Budget& budget) { return PercentFormatter(format, values, budget).run(); }

}  // namespace lagoon::jinja
