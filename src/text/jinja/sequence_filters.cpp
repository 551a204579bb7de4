// Filters on sequences and mappings.
#include "text/jinja/arguments.h"
#include "text/jinja/attribute_path.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"
#include "text/jinja/text_operations.h"

#include <algorithm>
#include <map>
#include <set>

namespace lagoon::jinja {
namespace {

/// list(value), each item a step.
std::vector<Value> all_items(Interpreter& interpreter, const Value& value) {
  std::vector<Value> items;
  Iterator iterator(value);
  for (Value item; iterator.next(item);) {
    interpreter.budget().step();
    if (item.fresh()) interpreter.budget().produced(item.own_bytes());
    items.push_back(std::move(item));
    interpreter.budget().list(items.size());
  }
  return items;
}

/// A lazy sequence over items that are already there.
Value lazy_list(std::vector<Value> items, const char* type) {
  const Value list = Value::list(std::move(items));
  const auto at = std::make_shared<size_t>(0);
  const auto next = [list, at](Value& item) {
    if (*at >= list.items().size()) return false;
    item = list.items()[(*at)++];
    return true;
  };
  return Value::object(std::make_shared<Generator>(list, next, type));
}

Value list(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("list", arguments, {"value"}, 1);
  return Value::list(all_items(interpreter, bound[0]));
}

Value first(Interpreter&, Arguments& arguments) {
  const Bound bound("first", arguments, {"seq"}, 1);
  Iterator iterator(bound[0]);
  Value item;
  return iterator.next(item) ? item : undefined("No first item, sequence was empty.");
}

Value last(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("last", arguments, {"seq"}, 1);
  const Value& value = bound[0];
  const auto size = length_of(value);
  if (!size) raise("TypeError", "'{}' object is not reversible", type_name(value));
  if (*size == 0) return undefined("No last item, sequence was empty.");
  if (value.is_list() || value.is_tuple()) return value.items().back();
  if (const auto* range = value.as<Range>()) return Value::integer(range->at(range->size() - 1));
  if (value.is_dict()) return value.as_dict().entries().back().first;
  if (const auto* view = value.as<DictView>()) return view->at(*size - 1);
  if (!value.as_text().ascii()) interpreter.budget().step(value.bytes().size() / 16);  // its characters are counted
  return Value::text(character_of(value.as_text(), *size - 1));
}

/// Always the first item: a render is a function of what it is given.
Value random(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("random", arguments, {"seq"}, 1);
  const std::vector<Value> items = all_items(interpreter, bound[0]);
  return items.empty() ? undefined("No random item, sequence was empty.") : items[0];
}

Value reverse(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("reverse", arguments, {"value"}, 1);
  const Value& value = bound[0];
  if (value.is_text()) {
    const auto size = static_cast<int64_t>(value.as_text().characters);
    return Value::text(text_slice(value.as_text(), size - 1, -1, size));
  }
  if (!is_iterable(value)) raise("FilterArgumentError", "argument must be iterable");
  std::vector<Value> items = all_items(interpreter, value);
  std::reverse(items.begin(), items.end());
  if (value.as<Generator>() != nullptr) return Value::list(std::move(items));
  return lazy_list(std::move(items), value.is_list() ? "list_reverseiterator" : value.is_dict() ? "dict_reversekeyiterator" : "reversed");
}

Value sort(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("sort", arguments, {"value", "reverse", "case_sensitive", "attribute"}, 1);
  std::vector<AttributePath> paths;
  if (bound.has(3) && bound[3].is_text()) {
    for (MarkedText& part : split(bound[3].marked(), ",", -1)) paths.emplace_back(Value::text(std::move(part)), interpreter.budget());
  } else {
    paths.emplace_back(bound[3], interpreter.budget());
  }
  std::vector<Value> items = all_items(interpreter, bound[0]);
  std::vector<Value> keys;
  keys.reserve(items.size());
  for (const Value& item : items) {
    std::vector<Value> key;
    key.reserve(paths.size());
    for (const AttributePath& path : paths)
      key.push_back(bound.flag(2) ? path.of(interpreter.budget(), item) : ignore_case(path.of(interpreter.budget(), item), interpreter.budget()));
    keys.push_back(Value::list(std::move(key)));
  }
  interpreter.budget().step(items.size());
  return Value::list(sorted(std::move(items), keys, bound.flag(1), interpreter.budget()));
}

Value dictsort(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("dictsort", arguments, {"value", "case_sensitive", "by", "reverse"}, 1);
  const std::string by = bound.has(2) && bound[2].is_text() ? bound[2].bytes() : "key";
  if (by != "key" && by != "value") raise("FilterArgumentError", "You can only sort by either \"key\" or \"value\"");
  require_defined(bound[0]);
  if (!bound[0].is_dict()) raise("AttributeError", "'{}' object has no attribute 'items'", type_name(bound[0]));
  std::vector<Value> items;
  std::vector<Value> keys;
  for (const auto& [key, value] : bound[0].as_dict().entries()) {
    const Value& compared = by == "key" ? key : value;
    keys.push_back(bound.flag(1) ? compared : ignore_case(compared, interpreter.budget()));
    items.push_back(Value::tuple({key, value}));
  }
  interpreter.budget().step(items.size());
  return Value::list(sorted(std::move(items), keys, bound.flag(3), interpreter.budget()));
}

Value items(Interpreter&, Arguments& arguments) {
  const Bound bound("items", arguments, {"value"}, 1);
  const Value& value = bound[0];
  const auto at = std::make_shared<size_t>(0);
  const auto next = [value, at](Value& item) {
    if (is_undefined(value)) return false;
    if (!value.is_dict()) raise("TypeError", "Can only get item pairs from a mapping.");
    if (*at >= value.as_dict().size()) return false;
    item = DictView(value, DictView::Part::items).at((*at)++);
    return true;
  };
  return Value::object(std::make_shared<Generator>(value, next));
}

Value unique(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("unique", arguments, {"value", "case_sensitive", "attribute"}, 1);
  const AttributePath path(bound[2], interpreter.budget());
  const bool case_sensitive = bound.flag(1);
  const auto source = std::make_shared<Iterator>(bound[0]);
  const auto seen = std::make_shared<std::set<std::string>>();
  const auto next = [&interpreter, path, case_sensitive, source, seen](Value& item) {
    while (source->next(item)) {
      interpreter.budget().step();
      const Value key = case_sensitive ? path.of(interpreter.budget(), item) : ignore_case(path.of(interpreter.budget(), item), interpreter.budget());
      charge_key(key, interpreter.budget());
      if (seen->insert(encode_key(key)).second) return true;
    }
    return false;
  };
  return Value::object(std::make_shared<Generator>(bound[0], next));
}

Value extreme(std::string_view name, Interpreter& interpreter, Arguments& arguments, bool largest) {
  const Bound bound(name, arguments, {"value", "case_sensitive", "attribute"}, 1);
  const AttributePath path(bound[2], interpreter.budget());
  const auto key_of = [&](const Value& item) {
    return bound.flag(1) ? path.of(interpreter.budget(), item) : ignore_case(path.of(interpreter.budget(), item), interpreter.budget());
  };
  Value best;
  Value best_key;
  Iterator iterator(bound[0]);
  for (Value item; iterator.next(item);) {
    interpreter.budget().step();
    Value key = key_of(item);
    if (!best.is_missing() && !compare(largest ? Comparison::greater : Comparison::less, key, best_key, interpreter.budget())) continue;
    best = item;
    best_key = std::move(key);
  }
  return best.is_missing() ? undefined("No aggregated item, sequence was empty.") : best;
}

Value min(Interpreter& interpreter, Arguments& arguments) { return extreme("min", interpreter, arguments, false); }
Value max(Interpreter& interpreter, Arguments& arguments) { return extreme("max", interpreter, arguments, true); }

Value sum(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("sum", arguments, {"iterable", "attribute", "start"}, 1);
  const AttributePath path(bound[1], interpreter.budget());
  Value total = bound.has(2) ? bound[2] : Value::integer(0);
  if (total.is_text()) raise("TypeError", "sum() can't sum strings [use ''.join(seq) instead]");
  Iterator iterator(bound[0]);
  for (Value item; iterator.next(item);) {
    interpreter.budget().step();
    total = binary(BinaryOperator::add, total, path.of(interpreter.budget(), item), interpreter.budget());
    interpreter.budget().produced(total.own_bytes());
  }
  return total;
}

Value batch(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("batch", arguments, {"value", "linecount", "fill_with"}, 2);
  const int64_t count = bound.integer(1, 1);
  std::vector<Value> rows;
  std::vector<Value> row;
  for (Value& item : all_items(interpreter, bound[0])) {
    if (static_cast<int64_t>(row.size()) == count) rows.push_back(Value::list(std::exchange(row, {})));
    row.push_back(std::move(item));
  }
  if (!row.empty()) {
    if (!bound.is_none(2) && count > 0) {
      interpreter.budget().list(static_cast<size_t>(count));
      interpreter.budget().step(static_cast<uint64_t>(count) / 4);
      while (static_cast<int64_t>(row.size()) < count) row.push_back(bound[2]);
    }
    rows.push_back(Value::list(std::move(row)));
  }
  return lazy_list(std::move(rows), "generator");
}

Value slice_filter(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("slice", arguments, {"value", "slices", "fill_with"}, 2);
  const std::vector<Value> items = all_items(interpreter, bound[0]);
  const int64_t slices = bound.integer(1, 1);
  if (slices == 0) raise("ZeroDivisionError", "integer division or modulo by zero");
  interpreter.budget().list(slices > 0 ? static_cast<size_t>(slices) : 0);
  interpreter.budget().step(slices > 0 ? static_cast<uint64_t>(slices) * 2 : 0);
  std::vector<Value> rows;
  const auto size = static_cast<int64_t>(items.size());
  int64_t at = 0;
  for (int64_t i = 0; i < slices; ++i) {
    const bool longer = i < size % slices;
    const int64_t end = at + size / slices + (longer ? 1 : 0);
    std::vector<Value> row(items.begin() + at, items.begin() + end);
    if (!bound.is_none(2) && !longer) row.push_back(bound[2]);
    rows.push_back(Value::list(std::move(row)));
    at = end;
  }
  return lazy_list(std::move(rows), "generator");
}

Value groupby(Interpreter& interpreter, Arguments& arguments) {
  const Bound bound("groupby", arguments, {"value", "attribute", "default", "case_sensitive"}, 2);
  const AttributePath path(bound[1], interpreter.budget());
  const auto key_of = [&](const Value& item) {
    const Value key = path.of(interpreter.budget(), item, bound[2]);
    return bound.flag(3) ? key : ignore_case(key, interpreter.budget());
  };
  const std::vector<Value> items = all_items(interpreter, bound[0]);
  std::vector<Value> keys;
  keys.reserve(items.size());
  for (const Value& item : items) keys.push_back(key_of(item));
  std::vector<Value> groups;
  std::vector<Value> group;
  interpreter.budget().step(items.size());
  for (const Value& item : sorted(items, keys, false, interpreter.budget())) {
    if (!group.empty() && !equals(key_of(group[0]), key_of(item), interpreter.budget())) {
      const Value grouper = path.of(interpreter.budget(), group[0], bound[2]);
      groups.push_back(Value::group(grouper, Value::list(std::exchange(group, {}))));
    }
    group.push_back(item);
  }
  if (!group.empty()) {
    const Value grouper = path.of(interpreter.budget(), group[0], bound[2]);
    groups.push_back(Value::group(grouper, Value::list(std::move(group))));
  }
  return Value::list(std::move(groups));
}

}  // namespace

std::vector<FilterRow> sequence_filters() {
  return {{"list", list}, {"first", first},       {"last", last},   {"random", random},      {"reverse", reverse},
          {"sort", sort}, {"dictsort", dictsort}, {"items", items}, {"unique", unique},      {"min", min},
          {"max", max},   {"sum", sum},           {"batch", batch}, {"slice", slice_filter}, {"groupby", groupby}};
}

}  // namespace lagoon::jinja
