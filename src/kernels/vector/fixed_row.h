// fixed_row.h: activations to 16-bit block fixed point. A template for the reason given in fixed_codes.h; 256-bit vectors do for
// every set, since the divisions bound it.
#pragma once

#include "kernels/rows.h"

#include <immintrin.h>

#include <cstdint>

namespace lagoon::vector {

/// Bits of the largest |x|: as integers, magnitudes order like the floats, then infinity, then NaN.
template <class P>
int32_t largest_magnitude(const float* x, int count) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  __m256i largest = _mm256_setzero_si256();
  for (int at = 0; at < count; at += 8) {
    largest = _mm256_max_epi32(largest, _mm256_and_si256(_mm256_castps_si256(_mm256_loadu_ps(x + at)), magnitude));
  }
  __m128i half = _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
  half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0xb1));
  return _mm_cvtsi128_si32(half);
}

/// 8 numbers over s, to the nearest integer, ties to even. Where s is subnormal its rounding can lift them above the range: clamp.
template <class P>
__m256i rounded_quotients(const float* x, __m256 s) {
  const __m256 limit = _mm256_set1_ps(32512.0f);
  const __m256 ratio = _mm256_div_ps(_mm256_loadu_ps(x), s);
  const __m256 clamped = _mm256_max_ps(_mm256_min_ps(ratio, limit), _mm256_sub_ps(_mm256_setzero_ps(), limit));
  return _mm256_cvtps_epi32(clamped);
}

/// q of one group, in the order that P's products want. @return the sum of q
template <class P>
int32_t quantize_group(const float* x, float s, int group, int16_t* q) {
  const __m256 divisor = _mm256_set1_ps(s);
  __m256i sums = _mm256_setzero_si256();
  for (int at = 0; at < group; at += 16) {
    const __m256i pairs = _mm256_packs_epi32(rounded_quotients<P>(x + at, divisor), rounded_quotients<P>(x + at + 8, divisor));
    const __m256i words = _mm256_permute4x64_epi64(pairs, 0xd8);
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(words, _mm256_set1_epi16(1)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + at), P::in_quads(words));
  }
  __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
  return _mm_cvtsi128_si32(half);
}

/// KernelSet::to_fixed_row.
template <class P>
void to_fixed_row(const float* x, int64_t columns, int group, const FixedRowTarget& out) {
  constexpr int32_t infinity = 0x7f800000;
  for (int64_t begin = 0, at = 0; begin < columns; begin += group, ++at) {
    const int32_t largest = largest_magnitude<P>(x + begin, group);
    const float s = largest < infinity ? __builtin_bit_cast(float, largest) / 32512.0f : __builtin_nanf("");
    int32_t sum = 0;
    if (s > 0.0f) {
      sum = quantize_group<P>(x + begin, s, group, out.q + begin);
    } else {
      for (int k = 0; k < group; ++k) out.q[begin + k] = 0;
    }
    out.scale[at] = s;
    out.sum[at] = s * static_cast<float>(sum);
  }
}

/// Quads as (q0, q2), (q1, q3): what 16-bit products multiply with the even and the odd bytes of a quad of codes.
template <class P>
__m256i even_then_odd(__m256i words) {
  const __m256i order = _mm256_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15, 0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
  return _mm256_shuffle_epi8(words, order);
}

/// Quads as 4 high bytes, then 4 low bytes, both signed: q = 256 * high + low. q + 128 has the high byte of that q, and the low
/// one with its sign bit turned.
template <class P>
__m256i high_then_low(__m256i words) {
  const __m256i bytes = _mm256_xor_si256(_mm256_add_epi16(words, _mm256_set1_epi16(128)), _mm256_set1_epi16(128));
  const __m256i order = _mm256_setr_epi8(1, 3, 5, 7, 0, 2, 4, 6, 9, 11, 13, 15, 8, 10, 12, 14, 1, 3, 5, 7, 0, 2, 4, 6, 9, 11, 13, 15, 8, 10, 12, 14);
  return _mm256_shuffle_epi8(bytes, order);
}

}  // namespace lagoon::vector
