#include "kernels/probes/probes.h"

#include <immintrin.h>

namespace lagoon::probes {

double fma_256(int64_t rounds) {
  const volatile float factor = 0.5f;  // volatile: the compiler may not compute the loop
  const __m256 a = _mm256_set1_ps(factor);
  __m256 sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < chains; ++i) sums[i] = _mm256_fmadd_ps(sums[i], a, a);
  }
  for (int i = 1; i < chains; ++i) sums[0] = _mm256_add_ps(sums[0], sums[i]);
  volatile float sink = _mm256_cvtss_f32(sums[0]);
  static_cast<void>(sink);
  return static_cast<double>(rounds) * chains * 8;
}

double madd_256(int64_t rounds) {
  const volatile int16_t factor = 3;
  const __m256i a = _mm256_set1_epi16(factor);
  __m256i sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = _mm256_set1_epi32(i);
  for (int64_t round = 0; round < rounds; ++round) {
    for (int i = 0; i < chains; ++i) sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(sums[i], a));
  }
  for (int i = 1; i < chains; ++i) sums[0] = _mm256_xor_si256(sums[0], sums[i]);
  volatile int sink = _mm256_cvtsi256_si32(sums[0]);
  static_cast<void>(sink);
  return static_cast<double>(rounds) * chains * 16;
}

}  // namespace lagoon::probes
