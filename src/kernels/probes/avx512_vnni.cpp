#include "kernels/probes/probes.h"

#include <immintrin.h>

namespace lagoon::probes {

double byte_dot_512(int64_t rounds) {
  const volatile int8_t factor = 3;  // volatile: the compiler may not compute the loop
  const __m512i a = _mm512_set1_epi8(factor);
  __m512i sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = _mm512_set1_epi32(i);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < chains; ++i) sums[i] = _mm512_dpbusd_epi32(sums[i], a, a);
  }
  for (int i = 1; i < chains; ++i) sums[0] = _mm512_xor_si512(sums[0], sums[i]);
  volatile int sink = _mm512_cvtsi512_si32(sums[0]);
  static_cast<void>(sink);
  return static_cast<double>(rounds) * chains * 64;
}

}  // namespace lagoon::probes
