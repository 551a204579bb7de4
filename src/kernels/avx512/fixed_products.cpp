#include "kernels/avx512/fixed_codes.h"
#include "kernels/vector/fixed_many_tokens.h"
#include "kernels/vector/fixed_row.h"
#include "kernels/vector_sets.h"

namespace lagoon::avx512 {
namespace {

/// Pairs of 16-bit products (vpmaddwd).
struct WordProducts : CodeVectors {
  static constexpr int parts = 2;
  using Sums = __m512i;

  static Bytes mask(int bits) { return _mm512_set1_epi16(static_cast<int16_t>(bits)); }

  [[gnu::always_inline]] static void multiply_add(Sums& sums, const Bytes* codes, Bytes first, Bytes second) {
    sums = _mm512_add_epi32(sums, _mm512_madd_epi16(codes[0], first));
    sums = _mm512_add_epi32(sums, _mm512_madd_epi16(codes[1], second));
  }
  static Lanes totals(const Sums& sums) { return {_mm512_cvtepi32_ps(sums)}; }

  static __m256i in_quads(__m256i words) { return vector::even_then_odd<WordProducts>(words); }
};

}  // namespace

void add_fixed_products(KernelSet& set) {
  set.fixed_probe = "16-bit products (vpmaddwd, 512-bit)";
  set.fixed_products = 1;
  set.to_fixed_row = vector::to_fixed_row<WordProducts>;
  set.multiply_fixed = vector::multiply_fixed<WordProducts>;
  set.gate_up_row = vector::gate_up_row<WordProducts>;
}

}  // namespace lagoon::avx512
