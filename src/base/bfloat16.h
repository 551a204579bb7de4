// bfloat16.h: the two 16-bit floats of checkpoints, as storage types. Arithmetic is always float.
#pragma once

#include <bit>
#include <cstdint>

namespace lagoon {

/// 1 sign, 8 exponent and 7 fraction bits: the upper half of a float.
struct Bfloat16 {
  uint16_t bits;
};

/// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
struct Float16 {
  uint16_t bits;
};

inline float to_float(Bfloat16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }

/// Rounds to nearest, ties to even; a NaN stays a (quiet) NaN.
inline Bfloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

/// Exact.
inline float to_float(Float16 value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000u) << 16;
  const uint32_t exponent = (value.bits >> 10) & 0x1fu;
  const uint32_t fraction = value.bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // subnormal: exact in float
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

}  // namespace lagoon
