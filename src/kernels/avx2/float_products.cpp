#include "kernels/vector/float_products.h"

#include "kernels/avx2/lanes.h"
#include "kernels/vector_sets.h"

namespace lagoon::avx2 {

void add_float_products(KernelSet& set) {
  set.float_probe = "fp32 FMA (256-bit)";
  set.multiply_float = vector::multiply_float<Lanes>;
  set.read_row = vector::read_row<Lanes>;
}

}  // namespace lagoon::avx2
