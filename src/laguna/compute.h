// compute.h: what a step computes with: the kernels of this machine, its threads, and the precision; and what it counts as it
// goes. Passed last to every step of the forward pass.
#pragma once

#include "kernels/kernel_set.h"
#include "laguna/step_work.h"
#include "machine/worker_pool.h"

#include <functional>

namespace lagoon {

/// standard: inputs of products with affine weights in 16-bit block fixed point, keys and values in bf16.
/// oracle: fp32 all through, plain loops; the truth that the default is measured against.
enum class Precision { standard, oracle };

struct Compute {
  const KernelSet& kernels;
  WorkerPool& pool;
  Precision precision;
  StepWork& work;
  StepProfile* profile = nullptr;                // null: nobody asks where the time goes
  const std::function<void()>* check = nullptr;  // called between pieces of work on any thread, throws to stop; null: nobody stops a step
};

}  // namespace lagoon
