// compute.h: what a step computes with: the kernels of this machine, its threads, the precision, and room for activations
// in fixed point. Passed last to every step of the forward pass.
#pragma once

#include "kernels/kernel_set.h"
#include "machine/memory_budget.h"
#include "machine/worker_pool.h"

namespace lagoon {

/// standard: inputs of products with affine weights in 16-bit block fixed point, keys and values in bf16.
/// oracle: fp32 all through, plain loops; the truth that the default is measured against.
enum class Precision { standard, oracle };

/// Room for one input of a product in fixed point (FixedRows); the largest input of a step fits.
struct FixedScratch {
  ClaimedBuffer<int8_t> high;  // [elements]
  ClaimedBuffer<int8_t> low;   // [elements]
  ClaimedBuffer<float> scale;  // [elements / 32], the smallest group
  ClaimedBuffer<float> sum;    // [elements / 32]
};

struct Compute {
  const KernelSet& kernels;
  WorkerPool& pool;
  Precision precision;
  FixedScratch& fixed;
};

}  // namespace lagoon
