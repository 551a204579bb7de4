#include "kernels/kernel_set.h"
#include "kernels/scalar/scalar.h"

namespace lagoon {

const KernelSet& scalar_kernels() {
  static const KernelSet set = {
      .name = "scalar",
      .fixed_probe = "scalar multiply-add",
      .fixed_products = 1,
      .float_probe = "scalar multiply-add",
      .pack_tile = pack_tile,
      .to_fixed_row = scalar::to_fixed_row,
      .multiply_fixed = scalar::multiply_fixed,
      .multiply_float = scalar::multiply_float,
      .gate_up_row = scalar::gate_up_row,
      .read_row = scalar::read_row,
      .rms_norm = scalar::rms_norm,
      .rotate = scalar::rotate,
      .silu_multiply = scalar::silu_multiply,
      .gate_head = scalar::gate_head,
      .gate_elements = scalar::gate_elements,
      .router_scores = scalar::router_scores,
      .add_scaled = scalar::add_scaled,
      .add = scalar::add,
      .scale = scalar::scale,
      .attend_block = scalar::attend_block,
      .merge_attention = scalar::merge_attention,
      .finish_attention = scalar::finish_attention,
  };
  return set;
}

}  // namespace lagoon
