// limits.h: what one render may use, so that no template, however written, can hang the program, overflow the stack or
// fill memory. A breach is an error of the template (class LimitError), with line and column like any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lagoon::jinja {

struct RenderLimits {
  size_t output_bytes = size_t{64} << 20;   // the rendered text, and any single text or JSON text on the way to it
  size_t list_items = size_t{1} << 20;      // elements of any single list, tuple or mapping
  size_t integer_bits = size_t{1} << 14;    // any single integer
  size_t produced_bytes = size_t{1} << 30;  // all values made during the render together, those already dropped included
  uint64_t steps = 10'000'000;              // expressions, statements, rounds of a loop, items of a filter, compared values
  int macro_depth = 200;                    // calls of macros, callers, recursive loops and blocks inside each other
  int evaluation_depth = 1500;              // statements and expressions inside each other, calls included
  int include_depth = 8;                    // templates that include each other
};

/// The most that an expression or a block may nest in the source; the parser refuses more.
constexpr int source_depth_limit = 120;
/// The most that lists, mappings and lazy sequences may nest as values.
constexpr int value_depth_limit = 600;

/// a * b, or the largest size_t where that does not fit.
inline size_t saturated_product(size_t a, size_t b) {
  size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

/// Counts what a render uses. One per render, passed by reference; throws Raised (template_error.h).
class Budget {
 public:
  explicit Budget(const RenderLimits& limits) : limits_(limits) {}
  const RenderLimits& limits() const { return limits_; }

  void step(uint64_t count = 1) {
    steps_ += count;
    if (steps_ > limits_.steps) refuse_steps();
  }
  /// Called before `bytes` of text are compared or searched.
  void scan(size_t bytes) { step(bytes / 64 + 1); }
  /// Called before each character of a text of `bytes` is looked at or changed.
  void visit(size_t bytes) { step(bytes / 2); }
  /// Called before `needle` is searched in a text of `bytes`: a short needle can cost its length at every place.
  void search(size_t bytes, size_t needle) {
    const size_t passes = 1 + (needle < 256 ? needle : 256) / 16;
    scan(saturated_product(bytes, passes));
  }
  /// Called before a text of `bytes` is built, with the exact size or a bound from below. Saturated sizes are fine.
  void text(size_t bytes) const {
    if (bytes > limits_.output_bytes) refuse_text(bytes);
  }
  void list(size_t items) const {
    if (items > limits_.list_items) refuse_list(items);
  }
  void integer(size_t bits) const {
    if (bits > limits_.integer_bits) refuse_integer();
  }
  void produced(size_t bytes) {
    step(bytes / 16);
    produced_ += bytes;
    if (produced_ > limits_.produced_bytes) refuse_produced();
  }

 private:
  [[noreturn]] void refuse_steps() const;
  [[noreturn]] void refuse_text(size_t bytes) const;
  [[noreturn]] void refuse_list(size_t items) const;
  [[noreturn]] void refuse_integer() const;
  [[noreturn]] void refuse_produced() const;

  RenderLimits limits_;
  uint64_t steps_ = 0;
  size_t produced_ = 0;
};

}  // namespace lagoon::jinja
