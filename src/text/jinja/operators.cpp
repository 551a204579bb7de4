#include "text/jinja/operators.h"

#include "text/jinja/numbers.h"
#include "text/jinja/objects.h"
#include "text/jinja/percent_format.h"
#include "text/jinja/template_error.h"
#include "text/jinja/text_operations.h"

#include <algorithm>
#include <numeric>

namespace lagoon::jinja {
namespace {

const char* symbol_of(BinaryOperator operation) {
  switch (operation) {
    case BinaryOperator::add:
      return "+";
    case BinaryOperator::sub:
      return "-";
    case BinaryOperator::mul:
      return "*";
    case BinaryOperator::div:
      return "/";
    case BinaryOperator::floordiv:
      return "//";
    case BinaryOperator::mod:
      return "%";
    case BinaryOperator::pow:
      return "** or pow()";
  }
  return "?";
}

const char* symbol_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::less:
      return "<";
    case Comparison::less_equal:
      return "<=";
    case Comparison::greater:
      return ">";
    default:
      return ">=";
  }
}

Value added(const Value& left, const Value& right, Budget& budget) {
  if (left.is_text()) {
    if (!right.is_text()) raise("TypeError", "can only concatenate str (not \"{}\") to str", type_name(right));
    budget.text(left.marked().size() + right.marked().size());
    if (left.as_text().markup || right.as_text().markup) return joined_markup(left, right, budget);
    MarkedText text = left.marked();
    text.append(right.marked());
    return Value::text(std::move(text));
  }
  if (left.kind() != right.kind()) {
    raise("TypeError", "can only concatenate {0} (not \"{1}\") to {0}", type_name(left), type_name(right));
  }
  budget.list(left.items().size() + right.items().size());
  std::vector<Value> items = left.items();
  items.insert(items.end(), right.items().begin(), right.items().end());
  return left.is_list() ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

bool is_sequence(const Value& value) { return value.is_text() || value.is_list() || value.is_tuple(); }

Value repeated(const Value& sequence, const Value& count, Budget& budget) {
  const mpz_class times = count.as_mpz();
  const size_t copies = times <= 0 ? 0 : times.fits_ulong_p() ? times.get_ui() : SIZE_MAX;
  if (sequence.is_text()) {
    budget.text(saturated_product(sequence.marked().size(), copies));
    return Value::text(repeat(sequence.marked(), sequence.marked().empty() ? 0 : copies), sequence.as_text().markup);
  }
  const std::vector<Value>& items = sequence.items();
  budget.list(saturated_product(items.size(), copies));
  std::vector<Value> out;
  for (size_t i = 0; i < copies && !items.empty(); ++i) out.insert(out.end(), items.begin(), items.end());
  return sequence.is_list() ? Value::list(std::move(out)) : Value::tuple(std::move(out));
}

/// Takes the steps of comparing two values without what is inside them.
void charge_pair(const Value& left, const Value& right, Budget& budget) {
  budget.step();
  const bool big = left.kind() == Value::Kind::big_integer || right.kind() == Value::Kind::big_integer;
  if (big && left.is_number() && right.is_number()) budget.scan(left.own_bytes() + right.own_bytes());
}

bool are_sequences(const Value& left, const Value& right) { return (left.is_list() && right.is_list()) || (left.is_tuple() && right.is_tuple()); }

struct Difference {
  const Value* left;
  const Value* right;
};

/// The innermost values that make two values differ, which give their order: two sequences only where one of them is the
/// beginning of the other. Nothing where the values are equal. One walk, whatever the nesting.
std::optional<Difference> difference(const Value& left, const Value& right, Budget& budget) {
  if (!are_sequences(left, right)) return equals(left, right, budget) ? std::nullopt : std::optional<Difference>({&left, &right});
  budget.step();
  const auto& a = left.items();
  const auto& b = right.items();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (const auto found = difference(a[i], b[i], budget)) return found;
  }
  return a.size() == b.size() ? std::nullopt : std::optional<Difference>({&left, &right});
}

/// An order of two values, or nothing where NaN leaves none. @throws Raised (TypeError) naming `symbol`
std::optional<int> order(const Value& left, const Value& right, const char* symbol, Budget& budget) {
  charge_pair(left, right, budget);
  require_defined(left);
  require_defined(right);
  if (left.is_number() && right.is_number()) return compare_numbers(left, right);
  if (left.is_text() && right.is_text()) {
    budget.scan(std::min(left.bytes().size(), right.bytes().size()));
    const int result = left.bytes().compare(right.bytes());  // UTF-8 sorts as its code points do
    return result < 0 ? -1 : result > 0 ? 1 : 0;
  }
  if (are_sequences(left, right)) {
    const auto found = difference(left, right, budget);
    if (!found) return 0;
    if (!are_sequences(*found->left, *found->right)) return order(*found->left, *found->right, symbol, budget);
    return found->left->items().size() < found->right->items().size() ? -1 : 1;
  }
  raise("TypeError", "'{}' not supported between instances of '{}' and '{}'", symbol, type_name(left), type_name(right));
}

bool equal_items(const std::vector<Value>& a, const std::vector<Value>& b, Budget& budget) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](const Value& x, const Value& y) { return equals(x, y, budget); });
}

bool equal_dicts(const Dict& a, const Dict& b, Budget& budget) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.entries().begin(), a.entries().end(), [&](const Dict::Entry& entry) {
    charge_key(entry.first, budget);
    const Value* other = b.find(entry.first);
    return other != nullptr && equals(entry.second, *other, budget);
  });
}

bool equal_keys(const Dict& a, const Dict& b, Budget& budget) {
  return a.size() == b.size() && std::all_of(a.entries().begin(), a.entries().end(), [&](const Dict::Entry& entry) {
           charge_key(entry.first, budget);
           return b.find(entry.first) != nullptr;
         });
}

bool equal_ranges(const Range& a, const Range& b) {
  if (a.size() != b.size()) return false;
  return a.size() == 0 || (a.at(0) == b.at(0) && (a.size() == 1 || a.step() == b.step()));
}

bool equal_objects(const Value& left, const Value& right, Budget& budget) {
  if (is_undefined(left) || is_undefined(right)) return is_undefined(left) && is_undefined(right);
  const auto* a = left.as<Range>();
  const auto* b = right.as<Range>();
  if (a != nullptr && b != nullptr) return equal_ranges(*a, *b);
  const auto* a_view = left.as<DictView>();
  const auto* b_view = right.as<DictView>();
  if (a_view != nullptr && b_view != nullptr && a_view->part() == b_view->part() && a_view->part() != DictView::Part::values) {
    if (a_view->part() == DictView::Part::items) return equals(a_view->dict(), b_view->dict(), budget);
    return equal_keys(a_view->dict().as_dict(), b_view->dict().as_dict(), budget);
  }
  return &left.as_object() == &right.as_object();
}

/// The first index, step and number of items of a slice, as slice.indices() gives them.
struct SliceRange {
  int64_t begin, end, step, count;
};

int64_t slice_bound(const Value& value, int64_t absent, int64_t size, int64_t lowest, int64_t highest) {
  if (value.is_missing() || value.is_none()) return absent;
  if (!value.is_integer()) raise("TypeError", "slice indices must be integers or None or have an __index__ method");
  mpz_class index = value.as_mpz();
  if (index < 0) index += mpz_class(static_cast<long>(size));
  if (index < lowest) return lowest;
  return index > highest ? highest : index.get_si();
}

SliceRange slice_range(int64_t size, const Value& begin, const Value& end, const Value& step) {
  int64_t stride = 1;
  if (!step.is_missing() && !step.is_none()) {
    if (!step.is_integer()) raise("TypeError", "slice indices must be integers or None or have an __index__ method");
    const mpz_class wide = step.as_mpz();
    if (wide == 0) raise("ValueError", "slice step cannot be zero");
    const long limit = static_cast<long>(size) + 1;  // a stride past the end takes one item, whatever its length
    stride = wide > limit ? limit : wide < -limit ? -limit : wide.get_si();
  }
  const bool forward = stride > 0;
  const int64_t lowest = forward ? 0 : -1;
  const int64_t highest = forward ? size : size - 1;
  const int64_t first = slice_bound(begin, forward ? lowest : highest, size, lowest, highest);
  const int64_t last = slice_bound(end, forward ? highest : lowest, size, lowest, highest);
  int64_t count = 0;
  if (forward && first < last) count = (last - first - 1) / stride + 1;
  if (!forward && first > last) count = (first - last - 1) / -stride + 1;
  return {first, last, stride, count};
}

}  // namespace

Value binary(BinaryOperator operation, const Value& left, const Value& right, Budget& budget) {
  if (operation == BinaryOperator::mod && left.is_text()) return Value::text(percent_format(left.marked(), right, budget), left.as_text().markup);
  require_defined(left);
  require_defined(right);
  if (left.is_number() && right.is_number()) return arithmetic(operation, left, right, budget);
  if (operation == BinaryOperator::add && is_sequence(left)) return added(left, right, budget);
  if (operation == BinaryOperator::mul && (is_sequence(left) || is_sequence(right))) {
    const bool sequence_first = is_sequence(left);
    const Value& count = sequence_first ? right : left;
    if (!count.is_integer()) raise("TypeError", "can't multiply sequence by non-int of type '{}'", type_name(count));
    return repeated(sequence_first ? left : right, count, budget);
  }
  raise("TypeError", "unsupported operand type(s) for {}: '{}' and '{}'", symbol_of(operation), type_name(left), type_name(right));
}

Value unary(UnaryOperator operation, const Value& operand) {
  if (operation == UnaryOperator::negation) return Value::boolean(!truth(operand));
  require_defined(operand);
  const bool minus = operation == UnaryOperator::minus;
  if (!operand.is_number()) raise("TypeError", "bad operand type for unary {}: '{}'", minus ? '-' : '+', type_name(operand));
  if (minus) return negated(operand);
  return operand.is_boolean() ? Value::integer(operand.as_mpz()) : operand;
}

bool equals(const Value& left, const Value& right, Budget& budget) {
  charge_pair(left, right, budget);
  if (left.is_number() && right.is_number()) return compare_numbers(left, right) == 0;
  if (left.kind() != right.kind()) return false;
  switch (left.kind()) {
    case Value::Kind::text:
      if (left.bytes().size() != right.bytes().size()) return false;
      budget.scan(left.bytes().size());
      return left.bytes() == right.bytes();
    case Value::Kind::list:
    case Value::Kind::tuple:
      return equal_items(left.items(), right.items(), budget);
    case Value::Kind::dict:
      return equal_dicts(left.as_dict(), right.as_dict(), budget);
    case Value::Kind::object:
      return equal_objects(left, right, budget);
    default:
      return true;
  }
}

bool less(const Value& left, const Value& right, Budget& budget) { return order(left, right, "<", budget) == -1; }

void charge_key(const Value& key, Budget& budget) {
  constexpr uint64_t lookup_steps = 8;  // a look-up takes several times as long as a step
  budget.step(key.is_tuple() ? 1 : lookup_steps);
  if (key.is_text()) budget.scan(key.bytes().size());
  if (key.kind() == Value::Kind::big_integer) budget.step(key.own_bytes() / 4);  // its digits are written out
  if (!key.is_tuple()) return;
  for (const Value& item : key.items()) charge_key(item, budget);
}

bool contains(const Value& container, const Value& item, Budget& budget) {
  if (container.is_text()) {
    if (!item.is_text()) raise("TypeError", "'in <string>' requires string as left operand, not {}", type_name(item));
    budget.search(container.bytes().size(), item.bytes().size());
    return find_bytes(container.bytes(), item.bytes()) != std::string::npos;
  }
  const auto* view = container.as<DictView>();
  if (container.is_dict() || (view != nullptr && view->part() == DictView::Part::keys)) {
    charge_key(item, budget);
    return (container.is_dict() ? container : view->dict()).as_dict().find(item) != nullptr;
  }
  if (!is_iterable(container)) raise("TypeError", "argument of type '{}' is not iterable", type_name(container));
  Iterator iterator(container);
  for (Value candidate; iterator.next(candidate);) {
    if (equals(candidate, item, budget)) return true;
  }
  return false;
}

bool compare(Comparison comparison, const Value& left, const Value& right, Budget& budget) {
  switch (comparison) {
    case Comparison::equal:
      return equals(left, right, budget);
    case Comparison::not_equal:
      return !equals(left, right, budget);
    case Comparison::in:
      return contains(right, left, budget);
    case Comparison::not_in:
      return !contains(right, left, budget);
    default:
      break;
  }
  const auto result = order(left, right, symbol_of(comparison), budget);
  if (!result) return false;
  if (comparison == Comparison::less) return *result < 0;
  if (comparison == Comparison::less_equal) return *result <= 0;
  return comparison == Comparison::greater ? *result > 0 : *result >= 0;
}

Value slice(const Value& object, const Value& begin, const Value& end, const Value& step) {
  require_defined(object);
  if (object.is_dict()) raise("TypeError", "unhashable type: 'slice'");
  if (const auto* range = object.as<Range>()) {
    const SliceRange part = slice_range(range->size(), begin, end, step);
    return Value::object(std::make_shared<Range>(range->at(part.begin), range->at(part.end), part.step * range->step()));
  }
  if (!is_sequence(object)) raise("TypeError", "'{}' object is not subscriptable", type_name(object));
  const auto [first, last, stride, count] = slice_range(static_cast<int64_t>(*length_of(object)), begin, end, step);
  if (object.is_text()) return Value::text(text_slice(object.as_text(), first, stride, count), object.as_text().markup);
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) items.push_back(object.items()[static_cast<size_t>(first + i * stride)]);
  return object.is_list() ? Value::list(std::move(items)) : Value::tuple(std::move(items));
}

std::vector<Value> sorted(std::vector<Value> items, const std::vector<Value>& keys, bool reverse, Budget& budget) {
  std::vector<size_t> places(items.size());
  std::iota(places.begin(), places.end(), size_t{0});
  // A reversed sort keeps the order of equal items, as Python's does.
  std::stable_sort(places.begin(), places.end(),
                   [&](size_t a, size_t b) { return reverse ? less(keys[b], keys[a], budget) : less(keys[a], keys[b], budget); });
  std::vector<Value> out;
  out.reserve(items.size());
  for (const size_t place : places) out.push_back(std::move(items[place]));
  return out;
}

}  // namespace lagoon::jinja
