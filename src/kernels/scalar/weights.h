// weights.h: reading single numbers out of memory, whatever their format.
#pragma once

#include "base/bfloat16.h"
#include "kernels/rows.h"

#include <cstring>

namespace lagoon::scalar {

inline float element_at(const std::byte* base, ElementType type, int64_t at) {
  if (type == ElementType::f32) {
    float value;  // NOLINT(cppcoreguidelines-init-variables): filled by memcpy
    std::memcpy(&value, base + at * 4, 4);
    return value;
  }
  uint16_t bits;  // NOLINT(cppcoreguidelines-init-variables): filled by memcpy
  std::memcpy(&bits, base + at * 2, 2);
  return type == ElementType::bf16 ? to_float(Bfloat16{bits}) : to_float(Float16{bits});
}

/// Numbers [begin, begin + count) as floats; the type is looked at once.
inline void read_elements(const std::byte* base, ElementType type, int64_t begin, int64_t count, float* out) {
  if (type == ElementType::f32) {
    std::memcpy(out, base + begin * 4, static_cast<size_t>(count) * 4);
  } else if (type == ElementType::bf16) {
    for (int64_t at = 0; at < count; ++at) out[at] = element_at(base, ElementType::bf16, begin + at);
  } else {
    for (int64_t at = 0; at < count; ++at) out[at] = element_at(base, ElementType::f16, begin + at);
  }
}

}  // namespace lagoon::scalar
