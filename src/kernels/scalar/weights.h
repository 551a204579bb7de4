// weights.h: reading single numbers out of a stored matrix, whatever its format.
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

/// Codes [begin, begin + count) of a row's bit stream: code k has bits [k * bits, (k + 1) * bits), lowest first.
/// @pre begin * bits is a multiple of 32, as every group begins on a word
inline void unpack_codes(const std::byte* row, int bits, int64_t begin, int count, int16_t* codes) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(row) + begin * bits / 8;
  const uint32_t mask = (1u << bits) - 1;
  uint32_t window = 0;  // bits not yet taken, lowest first
  int held = 0;
  for (int at = 0; at < count; ++at) {
    if (held < bits) {
      window |= static_cast<uint32_t>(*bytes++) << held;
      held += 8;
    }
    codes[at] = static_cast<int16_t>(window & mask);
    window >>= bits;
    held -= bits;
  }
}

/// Floats of one row of a plain or affine matrix, columns [begin, begin + count); for affine matrices both are multiples
/// of the group. Affine: product and sum are rounded one after the other, as MLX's dequantize does in f32.
void read_columns(const WeightMatrix& matrix, int64_t row, int64_t begin, int64_t count, float* out);

}  // namespace lagoon::scalar
