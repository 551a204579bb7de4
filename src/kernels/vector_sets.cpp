#include "kernels/vector_sets.h"

namespace lagoon {

#if defined(__x86_64__)

namespace {

KernelSet make_avx2() {
  KernelSet set = scalar_kernels();
  set.name = "avx2";
  avx2::add_elementwise(set);
  avx2::add_attention(set);
  avx2::add_float_products(set);
  avx2::add_fixed_products(set);
  return set;
}

KernelSet make_avx512() {
  KernelSet set = scalar_kernels();
  set.name = "avx512";
  avx512::add_elementwise(set);
  avx512::add_attention(set);
  avx512::add_float_products(set);
  avx512::add_fixed_products(set);
  return set;
}

KernelSet make_avx512_vnni() {
  KernelSet set = make_avx512();
  set.name = "avx512-vnni";
  avx512_vnni::add_fixed_products(set);
  return set;
}

}  // namespace

std::vector<const KernelSet*> vector_kernel_sets(const CpuFeatures& cpu) {
  std::vector<const KernelSet*> sets;
  if (cpu.runs_avx512() && cpu.avx512_vnni) {
    static const KernelSet set = make_avx512_vnni();
    sets.push_back(&set);
  }
  if (cpu.runs_avx512()) {
    static const KernelSet set = make_avx512();
    sets.push_back(&set);
  }
  if (cpu.runs_avx2()) {
    static const KernelSet set = make_avx2();
    sets.push_back(&set);
  }
  return sets;
}

#else

std::vector<const KernelSet*> vector_kernel_sets(const CpuFeatures& /*cpu*/) { return {}; }

#endif

}  // namespace lagoon
