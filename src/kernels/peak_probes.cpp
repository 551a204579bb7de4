#include "kernels/peak_probes.h"

#include "kernels/probes/probes.h"

#include <cstring>

namespace lagoon {
namespace {

double scalar_multiply_add(int64_t rounds) {
  const volatile float factor = 0.5f;  // volatile: the compiler may not compute the loop
  const float a = factor;
  float sums[probes::chains] = {};
  for (int64_t round = 0; round < rounds; ++round) {
    for (float& sum : sums) sum = sum * a + a;
  }
  float total = 0.0f;
  for (const float sum : sums) total += sum;
  volatile float sink = total;
  static_cast<void>(sink);
  return static_cast<double>(rounds) * probes::chains;
}

}  // namespace

std::vector<PeakProbe> peak_probes([[maybe_unused]] const CpuFeatures& cpu) {
  std::vector<PeakProbe> found = {{"scalar multiply-add", scalar_multiply_add}};
#if defined(__x86_64__)
  if (cpu.runs_avx2()) {
    found.push_back({"fp32 FMA (256-bit)", probes::fma_256});
    found.push_back({"16-bit products (vpmaddwd, 256-bit)", probes::madd_256});
  }
  if (cpu.runs_avx512()) {
    found.push_back({"fp32 FMA (512-bit)", probes::fma_512});
    found.push_back({"16-bit products (vpmaddwd, 512-bit)", probes::madd_512});
    if (cpu.avx512_vnni) found.push_back({"byte products (vpdpbusd)", probes::byte_dot_512});
    if (cpu.avx512_bf16) found.push_back({"bf16 products (vdpbf16ps)", probes::bf16_dot_512});
  }
#endif
  return found;
}

uint64_t read_memory(const std::byte* from, size_t bytes, [[maybe_unused]] const CpuFeatures& cpu) {
  const size_t whole = bytes / probes::read_step * probes::read_step;
#if defined(__x86_64__)
  if (cpu.runs_avx512()) return probes::read_512(from, whole);
  if (cpu.runs_avx2()) return probes::read_256(from, whole);
#endif
  return probes::read_plain(from, whole);
}

namespace probes {

uint64_t read_plain(const std::byte* from, size_t bytes) {
  uint64_t sums[read_step / 8] = {};
  for (size_t at = 0; at < bytes; at += read_step) {
    for (size_t line = 0; line < read_step; line += 64) __builtin_prefetch(from + at + read_ahead + line);
    for (size_t word = 0; word < read_step / 8; ++word) {
      uint64_t value = 0;
      std::memcpy(&value, from + at + word * 8, 8);
      sums[word] ^= value;
    }
  }
  uint64_t sum = 0;
  for (const uint64_t part : sums) sum ^= part;
  return sum;
}

}  // namespace probes

}  // namespace lagoon
