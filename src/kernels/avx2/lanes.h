// lanes.h: 16 floats in two AVX2 registers: what vector/ asks of an instruction set. Included by this folder's units only.
#pragma once

#include "kernels/vector/parts.h"
#include "kernels/weight_format.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace lagoon::avx2 {
// Unnamed, so that nothing compiled for these instructions can be called from elsewhere by the linker's choice.
namespace {

struct Lanes {
  struct Mask {
    __m256 low, high;
  };

  // Accumulators that 16 registers hold beside their operands.
  static constexpr int attention_heads = 2;  // times two vectors
  static constexpr int row_tile = 4;         // rows of a one-token product
  static constexpr int block_rows = 1;       // rows and tokens of a block of products
  static constexpr int block_tokens = 6;

  __m256 low, high;

  static Lanes zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static Lanes all(float value) { return {_mm256_set1_ps(value), _mm256_set1_ps(value)}; }

  /// Lanes [begin, end); either may lie outside 0 to 16.
  static Mask range(int begin, int end) {
    return {_mm256_castsi256_ps(_mm256_andnot_si256(below(begin), below(end))),
            _mm256_castsi256_ps(_mm256_andnot_si256(below(begin - 8), below(end - 8)))};
  }

  static Lanes load(const float* from, vector::Whole /*part*/ = {}) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
  static Lanes load(const float* from, vector::First part) {
    return {_mm256_maskload_ps(from, below(part.count)), _mm256_maskload_ps(from + 8, below(part.count - 8))};
  }
  void store(float* to, vector::Whole /*part*/ = {}) const {
    _mm256_storeu_ps(to, low);
    _mm256_storeu_ps(to + 8, high);
  }
  void store(float* to, vector::First part) const {
    _mm256_maskstore_ps(to, below(part.count), low);
    _mm256_maskstore_ps(to + 8, below(part.count - 8), high);
  }

  /// 16 numbers of a type as floats.
  template <ElementType type>
  static Lanes load_elements(const std::byte* from) {
    const auto* halves = reinterpret_cast<const __m128i*>(from);
    if constexpr (type == ElementType::f32) return load(reinterpret_cast<const float*>(from));
    if constexpr (type == ElementType::f16) return {_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))};
    return {widen(_mm_loadu_si128(halves)), widen(_mm_loadu_si128(halves + 1))};
  }

  /// 32 bf16: those at even places and those at odd ones, one instruction for each register.
  static void load_bf16_pairs(const std::byte* from, Lanes& even, Lanes& odd) {
    const __m256i mask = _mm256_set1_epi32(static_cast<int>(0xffff0000u));
    const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + 1);
    even = {_mm256_castsi256_ps(_mm256_slli_epi32(first, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(second, 16))};
    odd = {_mm256_castsi256_ps(_mm256_and_si256(first, mask)), _mm256_castsi256_ps(_mm256_and_si256(second, mask))};
  }

  /// Undoes the parting of load_bf16_pairs: places 0 to 15 to `even`, 16 to 31 to `odd`.
  static void interleave(Lanes& even, Lanes& odd) {
    const Lanes first = zip(even.low, odd.low);
    odd = zip(even.high, odd.high);
    even = first;
  }

  friend Lanes operator+(Lanes a, Lanes b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
  friend Lanes operator-(Lanes a, Lanes b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
  friend Lanes operator*(Lanes a, Lanes b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
  friend Lanes operator/(Lanes a, Lanes b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
  friend Lanes fma(Lanes a, Lanes b, Lanes c) { return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)}; }
  friend Lanes square_root(Lanes a) { return {_mm256_sqrt_ps(a.low), _mm256_sqrt_ps(a.high)}; }
  friend Lanes absolute(Lanes a) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_andnot_ps(sign, a.low), _mm256_andnot_ps(sign, a.high)};
  }
  friend Lanes negative(Lanes a) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_xor_ps(sign, a.low), _mm256_xor_ps(sign, a.high)};
  }

  /// a < b, false where one is NaN; and where a is NaN.
  friend Mask less(Lanes a, Lanes b) { return {_mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ), _mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ)}; }
  friend Mask is_nan(Lanes a) { return {_mm256_cmp_ps(a.low, a.low, _CMP_UNORD_Q), _mm256_cmp_ps(a.high, a.high, _CMP_UNORD_Q)}; }
  /// mask ? a : b.
  friend Lanes select(Mask mask, Lanes a, Lanes b) { return {_mm256_blendv_ps(b.low, a.low, mask.low), _mm256_blendv_ps(b.high, a.high, mask.high)}; }

  /// p * 2^n for whole n where neither p nor the result is subnormal: exact.
  friend Lanes times_power_of_two(Lanes p, Lanes n) { return {scaled(p.low, n.low), scaled(p.high, n.high)}; }

  /// Lane r: the 16 lanes of rows[r] joined by the fixed tree of canonical_math.h, lane i with i + 8, then 4, 2, 1.
  template <class Join>
  static Lanes reduce_rows(const Lanes* rows, Join join) {
    Lanes pairs[4];  // [i].low: rows i and i + 4, of each 4 lanes; high: rows i + 8 and i + 12
    for (int i = 0; i < 4; ++i) {
      const Lanes first = fold(rows[i], rows[i + 8], join);
      const Lanes second = fold(rows[i + 4], rows[i + 12], join);
      pairs[i] = join(Lanes{_mm256_permute2f128_ps(first.low, second.low, 0x20), _mm256_permute2f128_ps(first.high, second.high, 0x20)},
                      Lanes{_mm256_permute2f128_ps(first.low, second.low, 0x31), _mm256_permute2f128_ps(first.high, second.high, 0x31)});
    }
    const Lanes first = fold_pairs(pairs[0], pairs[1], join);
    const Lanes second = fold_pairs(pairs[2], pairs[3], join);
    return join(Lanes{_mm256_shuffle_ps(first.low, second.low, 0x88), _mm256_shuffle_ps(first.high, second.high, 0x88)},
                Lanes{_mm256_shuffle_ps(first.low, second.low, 0xdd), _mm256_shuffle_ps(first.high, second.high, 0xdd)});
  }

  /// The sum of the 16 lanes by the fixed tree.
  friend float reduce(Lanes a) {
    const __m256 eight = _mm256_add_ps(a.low, a.high);
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }

 private:
  static __m256i below(int count) { return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }

  static __m256 widen(__m128i bf16) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bf16), 16)); }

  static Lanes zip(__m256 even, __m256 odd) {
    const __m256 first = _mm256_unpacklo_ps(even, odd);
    const __m256 second = _mm256_unpackhi_ps(even, odd);
    return {_mm256_permute2f128_ps(first, second, 0x20), _mm256_permute2f128_ps(first, second, 0x31)};
  }

  /// In two factors, since 2^128 is no float.
  static __m256 scaled(__m256 p, __m256 n) {
    const __m256i whole = _mm256_cvtps_epi32(n);
    const __m256i first = _mm256_srai_epi32(whole, 1);
    return _mm256_mul_ps(_mm256_mul_ps(p, power_of_two(first)), power_of_two(_mm256_sub_epi32(whole, first)));
  }
  static __m256 power_of_two(__m256i n) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23)); }

  /// Lane i with lane i + 8, of two rows.
  template <class Join>
  static Lanes fold(Lanes a, Lanes b, Join join) {
    return join(Lanes{a.low, b.low}, Lanes{a.high, b.high});
  }
  template <class Join>
  static Lanes fold_pairs(Lanes a, Lanes b, Join join) {
    return join(Lanes{unpack_low(a.low, b.low), unpack_low(a.high, b.high)}, Lanes{unpack_high(a.low, b.low), unpack_high(a.high, b.high)});
  }
  static __m256 unpack_low(__m256 a, __m256 b) { return _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b))); }
  static __m256 unpack_high(__m256 a, __m256 b) { return _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b))); }
};

}  // namespace
}  // namespace lagoon::avx2
