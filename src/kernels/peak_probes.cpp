#include "kernels/peak_probes.h"

#include "kernels/probes/probes.h"

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
  const bool has_avx2 = cpu.avx2 && cpu.fma && cpu.f16c;
  const bool has_avx512 = has_avx2 && cpu.avx512f && cpu.avx512bw && cpu.avx512vl;
  if (has_avx2) {
    found.push_back({"fp32 FMA (256-bit)", probes::fma_256});
    found.push_back({"16-bit products (vpmaddwd, 256-bit)", probes::madd_256});
  }
  if (has_avx512) {
    found.push_back({"fp32 FMA (512-bit)", probes::fma_512});
    found.push_back({"16-bit products (vpmaddwd, 512-bit)", probes::madd_512});
    if (cpu.avx512_vnni) found.push_back({"byte products (vpdpbusd)", probes::byte_dot_512});
    if (cpu.avx512_bf16) found.push_back({"bf16 products (vdpbf16ps)", probes::bf16_dot_512});
  }
#endif
  return found;
}

}  // namespace lagoon
