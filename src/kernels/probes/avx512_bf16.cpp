#include "kernels/probes/probes.h"

#include <immintrin.h>

namespace lagoon::probes {

double bf16_dot_512(int64_t rounds) {
  const volatile float factor = 0.5f;  // volatile: the compiler may not compute the loop
  const __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(factor), _mm512_set1_ps(factor));
  __m512 sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < chains; ++i) sums[i] = _mm512_dpbf16_ps(sums[i], a, a);
  }
  for (int i = 1; i < chains; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  volatile float sink = _mm512_cvtss_f32(sums[0]);
  static_cast<void>(sink);
  return static_cast<double>(rounds) * chains * 32;
}

}  // namespace lagoon::probes
