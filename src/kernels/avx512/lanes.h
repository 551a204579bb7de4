// lanes.h: 16 floats in one AVX-512 register: what vector/ asks of an instruction set. Included by this folder's units only.
#pragma once

#include "kernels/vector/parts.h"
#include "kernels/weight_format.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace lagoon::avx512 {
// Unnamed, so that nothing compiled for these instructions can be called from elsewhere by the linker's choice.
namespace {

struct Lanes {
  using Mask = __mmask16;

  // Accumulators that 32 registers hold beside their operands.
  static constexpr int attention_heads = 9;  // times two vectors
  static constexpr int row_tile = 16;        // rows of a one-token product
  static constexpr int block_rows = 4;       // rows and tokens of a block of products
  static constexpr int block_tokens = 6;

  __m512 v;

  static Lanes zero() { return {_mm512_setzero_ps()}; }
  static Lanes all(float value) { return {_mm512_set1_ps(value)}; }

  /// Lanes [begin, end); either may lie outside 0 to 16.
  static Mask range(int begin, int end) { return static_cast<Mask>(below(end) & ~below(begin)); }

  static Lanes load(const float* from, vector::Whole /*part*/ = {}) { return {_mm512_loadu_ps(from)}; }
  static Lanes load(const float* from, vector::First part) { return {_mm512_maskz_loadu_ps(below(part.count), from)}; }
  void store(float* to, vector::Whole /*part*/ = {}) const { _mm512_storeu_ps(to, v); }
  void store(float* to, vector::First part) const { _mm512_mask_storeu_ps(to, below(part.count), v); }

  /// 16 numbers of a type as floats.
  template <ElementType type>
  static Lanes load_elements(const std::byte* from) {
    if constexpr (type == ElementType::f32) return {_mm512_loadu_ps(from)};
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    if constexpr (type == ElementType::f16) return {_mm512_cvtph_ps(halves)};
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16))};
  }

  /// 32 bf16: those at even places and those at odd ones, one instruction each.
  static void load_bf16_pairs(const std::byte* from, Lanes& even, Lanes& odd) {
    const __m512i pairs = _mm512_loadu_si512(from);
    even.v = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
    odd.v = _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
  }

  /// Undoes the parting of load_bf16_pairs: places 0 to 15 to `even`, 16 to 31 to `odd`.
  static void interleave(Lanes& even, Lanes& odd) {
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i second = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    const __m512 low = _mm512_permutex2var_ps(even.v, first, odd.v);
    odd.v = _mm512_permutex2var_ps(even.v, second, odd.v);
    even.v = low;
  }

  friend Lanes operator+(Lanes a, Lanes b) { return {_mm512_add_ps(a.v, b.v)}; }
  friend Lanes operator-(Lanes a, Lanes b) { return {_mm512_sub_ps(a.v, b.v)}; }
  friend Lanes operator*(Lanes a, Lanes b) { return {_mm512_mul_ps(a.v, b.v)}; }
  friend Lanes operator/(Lanes a, Lanes b) { return {_mm512_div_ps(a.v, b.v)}; }
  friend Lanes fma(Lanes a, Lanes b, Lanes c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
  friend Lanes square_root(Lanes a) { return {_mm512_sqrt_ps(a.v)}; }
  friend Lanes absolute(Lanes a) { return {_mm512_abs_ps(a.v)}; }
  friend Lanes negative(Lanes a) { return {_mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a.v), _mm512_set1_epi32(INT32_MIN)))}; }

  /// a < b, false where one is NaN; and where a is NaN.
  friend Mask less(Lanes a, Lanes b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ); }
  friend Mask is_nan(Lanes a) { return _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q); }
  /// mask ? a : b.
  friend Lanes select(Mask mask, Lanes a, Lanes b) { return {_mm512_mask_blend_ps(mask, b.v, a.v)}; }

  /// p * 2^n for whole n where neither p nor the result is subnormal: exact.
  friend Lanes times_power_of_two(Lanes p, Lanes n) { return {_mm512_scalef_ps(p.v, n.v)}; }

  /// Lane r: the 16 lanes of rows[r] joined by the fixed tree of canonical_math.h, lane i with i + 8, then 4, 2, 1.
  template <class Join>
  static Lanes reduce_rows(const Lanes* rows, Join join) {
    Lanes quarters[4];  // [i]: rows i, i + 4, i + 8, i + 12, of each 4 lanes
    for (int i = 0; i < 4; ++i) {
      const Lanes upper = fold(rows[i], rows[i + 4], join);
      const Lanes lower = fold(rows[i + 8], rows[i + 12], join);
      quarters[i] = join(Lanes{_mm512_shuffle_f32x4(upper.v, lower.v, 0x88)}, Lanes{_mm512_shuffle_f32x4(upper.v, lower.v, 0xdd)});
    }
    const Lanes first = fold_pairs(quarters[0], quarters[1], join);
    const Lanes second = fold_pairs(quarters[2], quarters[3], join);
    return join(Lanes{_mm512_shuffle_ps(first.v, second.v, 0x88)}, Lanes{_mm512_shuffle_ps(first.v, second.v, 0xdd)});
  }

  /// The sum of the 16 lanes by the fixed tree.
  friend float reduce(Lanes a) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a.v), 1)));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }

 private:
  static Mask below(int count) { return static_cast<Mask>(count <= 0 ? 0u : count >= 16 ? 0xffffu : (1u << count) - 1); }

  template <class Join>
  static Lanes fold(Lanes a, Lanes b, Join join) {
    return join(Lanes{_mm512_shuffle_f32x4(a.v, b.v, 0x44)}, Lanes{_mm512_shuffle_f32x4(a.v, b.v, 0xee)});
  }
  template <class Join>
  static Lanes fold_pairs(Lanes a, Lanes b, Join join) {
    const __m512d x = _mm512_castps_pd(a.v);
    const __m512d y = _mm512_castps_pd(b.v);
    return join(Lanes{_mm512_castpd_ps(_mm512_unpacklo_pd(x, y))}, Lanes{_mm512_castpd_ps(_mm512_unpackhi_pd(x, y))});
  }
};

}  // namespace
}  // namespace lagoon::avx512
