// checked.h: arithmetic on sizes and counts that come from files. Whatever leaves the range throws Error(corrupt) with a
// sentence that starts with `what`, the thing that was being measured.
#pragma once

#include "base/error.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

namespace lagoon {

template <typename T>
T checked_add(T a, T b, std::string_view what) {
  static_assert(std::is_integral_v<T>);
  T sum;
  if (__builtin_add_overflow(a, b, &sum)) fail(ErrorKind::corrupt, "{}: {} + {} leaves the range of sizes; the file is damaged", what, a, b);
  return sum;
}

template <typename T>
T checked_multiply(T a, T b, std::string_view what) {
  static_assert(std::is_integral_v<T>);
  T product;
  if (__builtin_mul_overflow(a, b, &product)) fail(ErrorKind::corrupt, "{}: {} x {} leaves the range of sizes; the file is damaged", what, a, b);
  return product;
}

/// For sums that are compared with what there is: what leaves the range of 64 bits is the largest number, which is more than anybody has.
inline uint64_t saturating_add(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<uint64_t>::max() : sum;
}

inline uint64_t saturating_multiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<uint64_t>::max() : product;
}

/// `value` as another integer type, if it fits.
template <typename To, typename From>
To checked_cast(From value, std::string_view what) {
  static_assert(std::is_integral_v<To> && std::is_integral_v<From>);
  if (!std::in_range<To>(value)) fail(ErrorKind::corrupt, "{}: {} leaves the range of sizes; the file is damaged", what, value);
  return static_cast<To>(value);
}

/// Elements of a tensor of this shape (1 for a scalar). Negative dimensions are an error.
inline int64_t checked_element_count(std::span<const int64_t> shape, std::string_view what) {
  int64_t count = 1;
  for (const int64_t dimension : shape) {
    if (dimension < 0) fail(ErrorKind::corrupt, "{}: dimension {} is negative; the file is damaged", what, dimension);
    count = checked_multiply(count, dimension, what);
  }
  return count;
}

}  // namespace lagoon
