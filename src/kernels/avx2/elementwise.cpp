#include "kernels/vector/elementwise.h"

#include "kernels/avx2/lanes.h"
#include "kernels/vector_sets.h"

namespace lagoon::avx2 {

void add_elementwise(KernelSet& set) {
  set.rms_norm = vector::rms_norm<Lanes>;
  set.rotate = vector::rotate<Lanes>;
  set.silu_multiply = vector::silu_multiply<Lanes>;
  set.gate_head = vector::gate_head<Lanes>;
  set.gate_elements = vector::gate_elements<Lanes>;
  set.router_scores = vector::router_scores<Lanes>;
  set.add_scaled = vector::add_scaled<Lanes>;
  set.add = vector::add<Lanes>;
  set.scale = vector::scale<Lanes>;
}

}  // namespace lagoon::avx2
