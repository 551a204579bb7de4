#include "kernels/probes/probes.h"

#include <immintrin.h>

namespace lagoon::probes {

double fma_512(int64_t rounds) {
  const volatile float factor = 0.5f;  // volatile: the compiler may not compute the loop
  const __m512 a = _mm512_set1_ps(factor);
  __m512 sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < chains; ++i) sums[i] = _mm512_fmadd_ps(sums[i], a, a);
  }
  for (int i = 1; i < chains; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  volatile float sink = _mm512_cvtss_f32(sums[0]);
  static_cast<void>(sink);
  return static_cast<double>(rounds) * chains * 16;
}

double madd_512(int64_t rounds) {
  const volatile int16_t factor = 3;
  const __m512i a = _mm512_set1_epi16(factor);
  __m512i sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = _mm512_set1_epi32(i);
  for (int64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < chains; ++i) sums[i] = _mm512_add_epi32(sums[i], _mm512_madd_epi16(sums[i], a));
  }
  for (int i = 1; i < chains; ++i) sums[0] = _mm512_xor_si512(sums[0], sums[i]);
  volatile int sink = _mm512_cvtsi512_si32(sums[0]);
  static_cast<void>(sink);
  return static_cast<double>(rounds) * chains * 32;
}

}  // namespace lagoon::probes
