#include "kernels/probes/probes.h"

#include <immintrin.h>

namespace lagoon::probes {

double fma_256(int64_t rounds) {
  const volatile float factor = 0.5f;  // volatile: the compiler may not compute the loop
  const __m256 a = _mm256_set1_ps(factor);
  __m256 sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
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
  __m256i b = a;
  __m256i sums[madd_chains];
  for (int i = 0; i < madd_chains; ++i) sums[i] = _mm256_set1_epi32(i);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < madd_chains; ++i) {
      asm volatile("" : "+x"(b));  // so that no product is computed before the loop
      sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(b, a));
    }
  }
  for (int i = 1; i < madd_chains; ++i) sums[0] = _mm256_xor_si256(sums[0], sums[i]);
  volatile int sink = _mm256_cvtsi256_si32(sums[0]);
  static_cast<void>(sink);
  return static_cast<double>(rounds) * madd_chains * 16;
}

uint64_t read_256(const std::byte* from, size_t bytes) {
  __m256i sums[read_step / 32] = {};
  for (size_t at = 0; at < bytes; at += read_step) {
    for (size_t line = 0; line < read_step; line += 64) __builtin_prefetch(from + at + read_ahead + line);
#pragma GCC unroll 8
    for (size_t i = 0; i < read_step / 32; ++i)
      sums[i] = _mm256_xor_si256(sums[i], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at + i * 32)));
  }
  __m256i sum = _mm256_setzero_si256();
  for (const __m256i& part : sums) sum = _mm256_xor_si256(sum, part);
  return static_cast<uint64_t>(_mm256_extract_epi64(sum, 0));
}

}  // namespace lagoon::probes
