// Methods of str that search, cut and join.
#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/template_error.h"
#include "text/jinja/text_operations.h"

#include <algorithm>
#include <array>

namespace lagoon::jinja {
namespace {

Value list_of(Interpreter& interpreter, std::vector<MarkedText> parts) {
  interpreter.budget().list(parts.size());
  interpreter.budget().step(parts.size());
  std::vector<Value> items;
  items.reserve(parts.size());
  for (MarkedText& part : parts) {
    items.push_back(Value::text(std::move(part)));
    interpreter.budget().produced(items.back().own_bytes());
  }
  return Value::list(std::move(items));
}

Value stripped(std::string_view name, Interpreter& interpreter, const Value& self, Arguments& arguments, Side side) {
  const Bound bound(name, arguments, {"chars"}, 0);
  interpreter.budget().step(self.bytes().size() / 8);  // a character takes longer than a searched byte
  if (bound.is_none(0)) return Value::text(strip(self.marked(), side));
  if (!bound[0].is_text()) raise("TypeError", "{} arg must be None or str", name);
  interpreter.budget().step(bound[0].bytes().size());
  return Value::text(strip(self.marked(), side, &bound[0].bytes()));
}

Value strip_both(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return stripped("strip", interpreter, self, arguments, Side::both);
}
Value strip_left(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return stripped("lstrip", interpreter, self, arguments, Side::left);
}
Value strip_right(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return stripped("rstrip", interpreter, self, arguments, Side::right);
}

Value cut(std::string_view name, Interpreter& interpreter, const Value& self, Arguments& arguments, bool right) {
  const Bound bound(name, arguments, {"sep", "maxsplit"}, 0);
  const int64_t limit = bound.integer(1, -1);
  interpreter.budget().step(self.bytes().size() / 8);
  if (bound.is_none(0)) return list_of(interpreter, right ? split_space_right(self.marked(), limit) : split_space(self.marked(), limit));
  if (!bound[0].is_text()) raise("TypeError", "must be str or None, not {}", type_name(bound[0]));
  const std::string& separator = bound[0].bytes();
  if (separator.empty()) raise("ValueError", "empty separator");
  interpreter.budget().search(self.bytes().size(), separator.size());
  return list_of(interpreter, right ? split_right(self.marked(), separator, limit) : split(self.marked(), separator, limit));
}

Value split_method(Interpreter& interpreter, const Value& self, Arguments& arguments) { return cut("split", interpreter, self, arguments, false); }
Value rsplit_method(Interpreter& interpreter, const Value& self, Arguments& arguments) { return cut("rsplit", interpreter, self, arguments, true); }

Value splitlines_method(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("splitlines", arguments, {"keepends"}, 0);
  interpreter.budget().step(self.bytes().size() / 8);
  return list_of(interpreter, split_lines(self.marked(), bound.flag(0)));
}

/// The bytes [begin, end) that `start` and `stop` (characters, as in a slice) mean; begin > end where start lies past stop.
struct ByteRange {
  size_t begin, end;
  bool valid;
};

ByteRange byte_range(Interpreter& interpreter, const Value& self, const Bound& bound, size_t first) {
  if (!self.as_text().ascii()) interpreter.budget().scan(self.bytes().size());  // its characters are counted
  const auto size = static_cast<int64_t>(self.as_text().characters);
  const auto clamp = [&](size_t index, int64_t absent) {
    if (bound.is_none(index)) return absent;
    const Value& value = bound[index];
    if (!value.is_integer()) raise("TypeError", "slice indices must be integers or None or have an __index__ method");
    int64_t at = value.as_small().value_or(value.as_mpz() < 0 ? -size - 1 : size + 1);
    if (at < 0) at = std::max<int64_t>(at + size, 0);
    return at;
  };
  const int64_t begin = clamp(first, 0);
  const int64_t end = std::min(clamp(first + 1, size), size);
  if (begin > size || begin > end) return {0, 0, false};
  return {byte_of_character(self.as_text(), static_cast<size_t>(begin)), byte_of_character(self.as_text(), static_cast<size_t>(end)), true};
}

int64_t found_at(std::string_view name, Interpreter& interpreter, const Value& self, Arguments& arguments, bool last) {
  const Bound bound(name, arguments, {"sub", "start", "end"}, 1);
  const std::string& wanted = bound.text(0).bytes();
  const ByteRange range = byte_range(interpreter, self, bound, 1);
  if (!range.valid) return -1;
  const std::string_view part = std::string_view(self.bytes()).substr(range.begin, range.end - range.begin);
  interpreter.budget().search(last ? part.size() * 8 : part.size(), wanted.size());  // backwards is slower
  const size_t found = last ? find_bytes_last(part, wanted) : find_bytes(part, wanted);
  if (found == std::string_view::npos) return -1;
  return static_cast<int64_t>(character_of_byte(self.as_text(), range.begin + found));
}

Value required(int64_t index) {
  if (index < 0) raise("ValueError", "substring not found");
  return Value::integer(index);
}

Value find_first(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return Value::integer(found_at("find", interpreter, self, arguments, false));
}
Value find_last(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return Value::integer(found_at("rfind", interpreter, self, arguments, true));
}
Value index_first(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return required(found_at("index", interpreter, self, arguments, false));
}
Value index_last(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return required(found_at("rindex", interpreter, self, arguments, true));
}

Value count_method(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("count", arguments, {"sub", "start", "end"}, 1);
  const std::string& wanted = bound.text(0).bytes();
  const ByteRange range = byte_range(interpreter, self, bound, 1);
  if (!range.valid) return Value::integer(0);
  const std::string_view part = std::string_view(self.bytes()).substr(range.begin, range.end - range.begin);
  if (wanted.empty()) {
    const size_t characters = character_of_byte(self.as_text(), range.end) - character_of_byte(self.as_text(), range.begin);
    return Value::integer(static_cast<int64_t>(characters + 1));
  }
  interpreter.budget().search(part.size(), wanted.size());
  int64_t count = 0;
  for (size_t at = find_bytes(part, wanted); at != std::string_view::npos; at = find_bytes(part, wanted, at + wanted.size())) ++count;
  interpreter.budget().step(static_cast<uint64_t>(count));
  return Value::integer(count);
}

Value has_affix(std::string_view name, Interpreter& interpreter, const Value& self, Arguments& arguments, bool suffix) {
  const Bound bound(name, arguments, {"prefix", "start", "end"}, 1);
  const ByteRange range = byte_range(interpreter, self, bound, 1);
  const std::string_view part = range.valid ? std::string_view(self.bytes()).substr(range.begin, range.end - range.begin) : std::string_view();
  const auto matches = [&](const Value& affix) {
    if (!affix.is_text()) raise("TypeError", "{} first arg must be str or a tuple of str, not {}", name, type_name(affix));
    const std::string& text = affix.bytes();
    interpreter.budget().step();
    if (!range.valid || text.size() > part.size()) return false;
    interpreter.budget().scan(text.size());
    return part.substr(suffix ? part.size() - text.size() : 0, text.size()) == text;
  };
  if (!bound[0].is_tuple()) return Value::boolean(matches(bound[0]));
  const auto& options = bound[0].items();
  return Value::boolean(std::any_of(options.begin(), options.end(), matches));
}

Value startswith(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return has_affix("startswith", interpreter, self, arguments, false);
}
Value endswith(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return has_affix("endswith", interpreter, self, arguments, true);
}

Value removeprefix(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("removeprefix", arguments, {"prefix"}, 1);
  const std::string& prefix = bound.text(0).bytes();
  interpreter.budget().scan(std::min(prefix.size(), self.bytes().size()));
  const bool has = self.bytes().compare(0, prefix.size(), prefix) == 0;
  return has ? Value::text(self.marked().slice(prefix.size(), self.bytes().size())) : self;
}

Value removesuffix(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("removesuffix", arguments, {"suffix"}, 1);
  const std::string& suffix = bound.text(0).bytes();
  interpreter.budget().scan(std::min(suffix.size(), self.bytes().size()));
  const std::string& text = self.bytes();
  const bool has = !suffix.empty() && text.size() >= suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
  return has ? Value::text(self.marked().slice(0, text.size() - suffix.size())) : self;
}

Value replace_method(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("replace", arguments, {"old", "new", "count"}, 2);
  const int64_t limit = bound.integer(2, -1);
  interpreter.budget().search(self.bytes().size(), bound.text(0).bytes().size());
  return Value::text(replace(self.marked(), bound.text(0).bytes(), bound.text(1).marked(), limit, interpreter.budget()));
}

Value parted(std::string_view name, Interpreter& interpreter, const Value& self, Arguments& arguments, bool last) {
  const Bound bound(name, arguments, {"sep"}, 1);
  const Value& separator = bound.text(0);
  const std::string& wanted = separator.bytes();
  if (wanted.empty()) raise("ValueError", "empty separator");
  interpreter.budget().search(last ? self.bytes().size() * 8 : self.bytes().size(), wanted.size());  // backwards is slower
  const size_t found = last ? find_bytes_last(self.bytes(), wanted) : find_bytes(self.bytes(), wanted);
  const Value nothing = Value::text(MarkedText());
  if (found == std::string::npos) return last ? Value::tuple({nothing, nothing, self}) : Value::tuple({self, nothing, nothing});
  const size_t after = found + wanted.size();
  return Value::tuple({Value::text(self.marked().slice(0, found)), Value::text(self.marked().slice(found, wanted.size())),
                       Value::text(self.marked().slice(after, self.bytes().size() - after))});
}

Value partition(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return parted("partition", interpreter, self, arguments, false);
}
Value rpartition(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  return parted("rpartition", interpreter, self, arguments, true);
}

Value join_method(Interpreter& interpreter, const Value& self, Arguments& arguments) {
  const Bound bound("join", arguments, {"iterable"}, 1);
  if (!is_iterable(bound[0])) raise("TypeError", "can only join an iterable");
  MarkedText out;
  int64_t index = 0;
  Iterator iterator(bound[0]);
  for (Value item; iterator.next(item); ++index) {
    if (!item.is_text()) raise("TypeError", "sequence item {}: expected str instance, {} found", index, type_name(item));
    if (index > 0) out.append(self.marked());
    out.append(item.marked());
    interpreter.budget().step();
    interpreter.budget().text(out.size());
  }
  return Value::text(std::move(out));
}

constexpr std::array<MethodRow, 19> methods = {{
    {"strip", strip_both},       {"lstrip", strip_left},         {"rstrip", strip_right},
    {"split", split_method},     {"rsplit", rsplit_method},      {"splitlines", splitlines_method},
    {"find", find_first},        {"rfind", find_last},           {"index", index_first},
    {"rindex", index_last},      {"count", count_method},        {"startswith", startswith},
    {"endswith", endswith},      {"removeprefix", removeprefix}, {"removesuffix", removesuffix},
    {"replace", replace_method}, {"partition", partition},       {"rpartition", rpartition},
    {"join", join_method},
}};

}  // namespace

Method find_text_method(std::string_view name) {
  const auto found = std::find_if(methods.begin(), methods.end(), [&](const MethodRow& row) { return row.name == name; });
  return found == methods.end() ? nullptr : found->method;
}

}  // namespace lagoon::jinja
