#include "text/jinja/string_format.h"

#include "text/jinja/attributes.h"
#include "text/jinja/number_format.h"
#include "text/jinja/numbers.h"
#include "text/jinja/python_repr.h"
#include "text/jinja/template_error.h"
#include "text/jinja/text_operations.h"

namespace lagoon::jinja {
namespace {

bool is_number(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos; }

class StringFormatter {
 public:
  StringFormatter(const Arguments& arguments, Budget& budget) : arguments_(arguments), budget_(budget) {}
  MarkedText run(const MarkedText& format, int depth);

 private:
  void field(const MarkedText& text, int depth, MarkedText& out);
  Value look_up(std::string_view name);
  Value argument(std::string_view name);
  MarkedText formatted(const Value& value, const std::string& spec_text) const;

  const Arguments& arguments_;
  Budget& budget_;
  int64_t next_ = 0;  // -1 once fields are numbered by hand
};

size_t index_of(std::string_view digits) {
  size_t index = 0;
  for (const char digit : digits) index = std::min<size_t>(index * 10 + static_cast<size_t>(digit - '0'), INT32_MAX);
  return index;
}

MarkedText StringFormatter::run(const MarkedText& format, int depth) {
  if (depth > 2) raise("ValueError", "Max string recursion exceeded");
  const std::string& bytes = format.text();
  budget_.visit(bytes.size());
  MarkedText out;
  for (size_t at = 0; at < bytes.size();) {
    budget_.text(out.size());
    const size_t brace = std::min(bytes.find_first_of("{}", at), bytes.size());
    out.append(format.slice(at, brace - at));
    if (brace == bytes.size()) break;
    if (brace + 1 < bytes.size() && bytes[brace + 1] == bytes[brace]) {
      out.append(format.slice(brace, 1));
      at = brace + 2;
      continue;
    }
    if (bytes[brace] == '}') raise("ValueError", "Single '}}' encountered in format string");
    int open = 1;
    size_t end = brace + 1;
    while (end < bytes.size() && open > 0) {
      if (bytes[end] == '{') ++open;
      if (bytes[end] == '}') --open;
      ++end;
    }
    if (open > 0) raise("ValueError", "expected '}}' before end of string");
    field(format.slice(brace + 1, end - brace - 2), depth, out);
    at = end;
  }
  return out;
}

/// name[!conversion][:spec]
void StringFormatter::field(const MarkedText& text, int depth, MarkedText& out) {
  const std::string& bytes = text.text();
  size_t name_end = 0;
  bool in_brackets = false;
  while (name_end < bytes.size() && (in_brackets || (bytes[name_end] != '!' && bytes[name_end] != ':'))) {
    if (bytes[name_end] == '[') in_brackets = true;
    if (bytes[name_end] == ']') in_brackets = false;
    ++name_end;
  }
  Value value = look_up(std::string_view(bytes).substr(0, name_end));
  size_t at = name_end;
  if (at < bytes.size() && bytes[at] == '!') {
    const char conversion = at + 1 < bytes.size() ? bytes[at + 1] : '\0';
    at += 2;
    if (at < bytes.size() && bytes[at] != ':') raise("ValueError", "expected ':' after conversion specifier");
    if (conversion == 's') {
      value = Value::text(str(value, budget_));
    } else if (conversion == 'r' || conversion == 'a') {
      value = Value::data(repr(value, budget_));
    } else {
      raise("ValueError", "Unknown conversion specifier {}", printable(std::string(1, conversion)));
    }
  }
  const MarkedText spec = at < bytes.size() ? run(text.slice(at + 1, bytes.size()), depth + 1) : MarkedText();
  out.append(formatted(value, spec.text()));
}

Value StringFormatter::argument(std::string_view name) {
  budget_.step(4 + arguments_.named.size() / 4);
  if (name.empty() || is_number(name)) {
    if (name.empty() != (next_ >= 0) && !(next_ == 0 && !name.empty())) {
      raise("ValueError", "cannot switch between manual field specification and automatic field numbering");
    }
    const size_t index = name.empty() ? static_cast<size_t>(next_++) : index_of(name);
    if (!name.empty()) next_ = -1;
    if (index >= arguments_.values.size()) {
      raise("IndexError", "Replacement index {} out of range for positional args tuple", index);
    }
    return arguments_.values[index];
  }
  for (const auto& [known, value] : arguments_.named) {
    if (known == name) return value;
  }
  raise("KeyError", "{}", repr_of_text(name));
}

Value StringFormatter::look_up(std::string_view name) {
  const size_t end = std::min(name.find_first_of(".["), name.size());
  Value value = argument(name.substr(0, end));
  size_t at = end;
  while (at < name.size()) {
    budget_.step(8);
    if (name[at] == '.') {
      const size_t next = std::min(name.find_first_of(".[", at + 1), name.size());
      if (next == at + 1) raise("ValueError", "Empty attribute in format string");
      value = get_attribute(value, std::string(name.substr(at + 1, next - at - 1)));
      at = next;
    } else if (name[at] == '[') {
      const size_t close = name.find(']', at);
      if (close == std::string_view::npos) raise("ValueError", "Missing ']' in format string");
      const std::string_view item = name.substr(at + 1, close - at - 1);
      if (item.empty()) raise("ValueError", "Empty attribute in format string");
      value = get_item(value, is_number(item) ? Value::integer(static_cast<int64_t>(index_of(item))) : Value::data(item));
      at = close + 1;
    } else {
      raise("ValueError", "Only '.' or '[' may follow ']' in format field specifier");
    }
  }
  return value;
}

MarkedText StringFormatter::formatted(const Value& value, const std::string& spec_text) const {
  if (spec_text.empty()) return str(value, budget_);
  if (value.is_number()) charge_repr(value, budget_);
  const FormatSpec spec = parse_format_spec(spec_text, budget_);
  budget_.step(static_cast<uint64_t>(std::max(spec.precision, 0)) / 8);
  const std::string_view real_types = "eEfFgG%";
  const bool real_type = spec.type != '\0' && real_types.find(spec.type) != std::string_view::npos;
  const auto refuse = [&] {
    raise("ValueError", "Unknown format code '{}' for object of type '{}'", printable(std::string(1, spec.type)), type_name(value));
  };
  if (value.is_text()) {
    if (spec.type != '\0' && spec.type != 's') refuse();
    if (spec.align == '=' && spec.fill != "0") raise("ValueError", "'=' alignment not allowed in string format specifier");
    const auto characters = static_cast<int64_t>(value.as_text().characters);
    const int64_t keep = spec.precision < 0 ? characters : std::min<int64_t>(spec.precision, characters);
    FormatSpec text_spec = spec;
    if (spec.align == '=') text_spec.align = '<';
    return pad(text_slice(value.as_text(), 0, 1, keep), text_spec, '<');
  }
  if (value.is_real() || (value.is_integer() && real_type)) {
    if (!real_type && spec.type != '\0' && spec.type != 'n') refuse();
    return pad(MarkedText(format_real(to_real(value), spec), Origin::from_data), spec, '>');
  }
  if (value.is_integer() && !(value.is_boolean() && spec.type == '\0')) {
    if (spec.type != '\0' && std::string_view("bcdoxXn").find(spec.type) == std::string_view::npos) refuse();
    if (spec.precision >= 0) raise("ValueError", "Precision not allowed in integer format specifier");
    return pad(MarkedText(format_integer(value.as_mpz(), spec), Origin::from_data), spec, '>');
  }
  if (value.is_boolean()) return pad(MarkedText(format_integer(value.as_mpz(), spec), Origin::from_data), spec, '>');
  raise("TypeError", "unsupported format string passed to {}.__format__", type_name(value));
}

}  // namespace

MarkedText string_format(const MarkedText& format, const Arguments& arguments, Budget& budget) {
  return StringFormatter(arguments, budget).run(format, 0);
}

}  // namespace lagoon::jinja
