// vector_sets.h: the kernel sets that use vector instructions. Each stands in its own folder, whose sources alone are compiled
// for its instructions; what they share is written once, in vector/, over a type for 16 lanes of floats.
#pragma once

#include "kernels/kernel_set.h"

#include <vector>

namespace lagoon {

/// Those of this build that `cpu` can run, best first.
std::vector<const KernelSet*> vector_kernel_sets(const CpuFeatures& cpu);

// Each folder fills its part of a table.
namespace avx2 {
void add_elementwise(KernelSet& set);
void add_attention(KernelSet& set);
void add_float_products(KernelSet& set);
void add_fixed_products(KernelSet& set);
}  // namespace avx2

namespace avx512 {
void add_elementwise(KernelSet& set);
void add_attention(KernelSet& set);
void add_float_products(KernelSet& set);
void add_fixed_products(KernelSet& set);
}  // namespace avx512

namespace avx512_vnni {
void add_fixed_products(KernelSet& set);
}  // namespace avx512_vnni

}  // namespace lagoon
