#include "kernels/avx512/fixed_codes.h"
#include "kernels/vector/fixed_many_tokens.h"
#include "kernels/vector/fixed_row.h"
#include "kernels/vector_sets.h"

namespace lagoon::avx512_vnni {
namespace {

/// Quads of byte products (vpdpbusd), with the high and with the low bytes of q = 256 * high + low.
struct ByteProducts : avx512::CodeVectors {
  static constexpr int parts = 1;
  static constexpr int passes = 2;
  static constexpr int tokens_at_once = 8;
  using Sum = __m512i;

  static Bytes mask(int bits) { return _mm512_set1_epi8(static_cast<int8_t>(bits)); }

  template <int pass>
  static void add_quad(Sum& sum, const Bytes* codes, const int16_t* quad) {
    sum = _mm512_dpbusd_epi32(sum, codes[0], broadcast_pair(quad + 2 * pass));
  }
  static Sum next_pass(Sum sum) { return _mm512_slli_epi32(sum, 8); }

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
