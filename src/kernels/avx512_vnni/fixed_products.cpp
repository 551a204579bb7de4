#include "kernels/avx512/fixed_codes.h"
#include "kernels/vector/fixed_many_tokens.h"
#include "kernels/vector/fixed_row.h"
#include "kernels/vector_sets.h"

namespace lagoon::avx512_vnni {
namespace {

/// Quads of byte products (vpdpbusd), with the high and with the low bytes of q = 256 * high + low.
struct ByteProducts : avx512::CodeVectors {
  static constexpr int parts = 1;
  struct Sums {
    __m512i high, low;
  };

  static Bytes mask(int bits) { return _mm512_set1_epi8(static_cast<int8_t>(bits)); }

  [[gnu::always_inline]] static void multiply_add(Sums& sums, const Bytes* codes, Bytes high, Bytes low) {
    sums.high = _mm512_dpbusd_epi32(sums.high, codes[0], high);
    sums.low = _mm512_dpbusd_epi32(sums.low, codes[0], low);
  }
  static Lanes totals(const Sums& sums) { return {_mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_slli_epi32(sums.high, 8), sums.low))}; }

  static constexpr int passes = 2;
  using Sum = __m512i;
  template <int pass>
  [[gnu::always_inline]] static void add_quad(Sum& sum, const Bytes* codes, const int16_t* quad) {
    sum = _mm512_dpbusd_epi32(sum, codes[0], broadcast_pair(quad + 2 * pass));
  }
  static Sum next_pass(Sum sum) { return _mm512_slli_epi32(sum, 8); }
  static Sum join(Sum a, Sum b) { return _mm512_add_epi32(a, b); }
  static Lanes to_lanes(Sum sum) { return {_mm512_cvtepi32_ps(sum)}; }

  static __m256i in_quads(__m256i words) { return vector::high_then_low<ByteProducts>(words); }
};

}  // namespace

void add_fixed_products(KernelSet& set) {
  set.fixed_probe = "byte products (vpdpbusd)";
  set.fixed_products = 2;
  set.to_fixed_row = vector::to_fixed_row<ByteProducts>;
  set.multiply_fixed = vector::multiply_fixed<ByteProducts>;
  set.gate_up_row = vector::gate_up_row<ByteProducts>;
}

}  // namespace lagoon::avx512_vnni
