#include "kernels/probes/probes.h"

#include <immintrin.h>

namespace lagoon::probes {

double fma_512(int64_t rounds) {
  const volatile float factor = 0.5f;  // volatile: the compiler may not compute the loop
  const __m512 a = _mm512_set1_ps(factor);
  __m512 sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
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
  __m512i b = a;
  __m512i sums[madd_chains];
  for (int i = 0; i < madd_chains; ++i) sums[i] = _mm512_set1_epi32(i);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < madd_chains; ++i) {
      asm volatile("" : "+v"(b));  // so that no product is computed before the loop
      sums[i] = _mm512_add_epi32(sums[i], _mm512_madd_epi16(b, a));
    }
  }
  for (int i = 1; i < madd_chains; ++i) sums[0] = _mm512_xor_si512(sums[0], sums[i]);
  volatile int sink = _mm512_cvtsi512_si32(sums[0]);
  static_cast<void>(sink);
  return static_cast<double>(rounds) * madd_chains * 32;
}

uint64_t read_512(const std::byte* from, size_t bytes) {
  __m512i sums[read_step / 64] = {};
  for (size_t at = 0; at < bytes; at += read_step) {
    for (size_t line = 0; line < read_step; line += 64) __builtin_prefetch(from + at + read_ahead + line);
#pragma GCC unroll 8
    for (size_t i = 0; i < read_step / 64; ++i) sums[i] = _mm512_xor_si512(sums[i], _mm512_loadu_si512(from + at + i * 64));
  }
  __m512i sum = _mm512_setzero_si512();
  for (const __m512i& part : sums) sum = _mm512_xor_si512(sum, part);
  return static_cast<uint64_t>(_mm512_reduce_add_epi64(sum));
}

}  // namespace lagoon::probes
