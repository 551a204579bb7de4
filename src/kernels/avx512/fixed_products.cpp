#include "kernels/avx512/fixed_codes.h"
#include "kernels/vector/fixed_many_tokens.h"
#include "kernels/vector/fixed_row.h"
#include "kernels/vector/pack_tile.h"
#include "kernels/vector_sets.h"

namespace lagoon::avx512 {
namespace {

/// Pairs of 16-bit products (vpmaddwd).
struct WordProducts : CodeVectors {
  static constexpr int parts = 2;
  static constexpr int passes = 1;
  static constexpr int tokens_at_once = 8;
  using Sum = __m512i;

  static Bytes mask(int bits) { return _mm512_set1_epi16(static_cast<int16_t>(bits)); }

  template <int pass>
  static void add_quad(Sum& sum, const Bytes* codes, const int16_t* quad) {
    sum = join(sum, _mm512_madd_epi16(codes[0], broadcast_pair(quad)));
    sum = join(sum, _mm512_madd_epi16(codes[1], broadcast_pair(quad + 2)));
    // Without this g++ puts the additions off until all products are there, more than the registers hold.
    __asm__("" : "+v"(sum));
  }

  static __m256i in_quads(__m256i words) { return vector::even_then_odd<WordProducts>(words); }
};

}  // namespace

void add_fixed_products(KernelSet& set) {
  set.fixed_probe = "16-bit products (vpmaddwd, 512-bit)";
  set.fixed_products = 1;
  set.pack_tile = vector::pack_tile<WordProducts>;
  set.to_fixed_row = vector::to_fixed_row<WordProducts>;
  set.multiply_fixed = vector::multiply_fixed<WordProducts>;
  set.gate_up_row = vector::gate_up_row<WordProducts>;
}

}  // namespace lagoon::avx512
