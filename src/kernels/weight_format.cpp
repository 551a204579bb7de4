#include "kernels/weight_format.h"

#include <fmt/format.h>

namespace lagoon {

std::string name_of(const WeightFormat& format) {
  if (format.kind == WeightFormat::Kind::affine) return fmt::format("{}-bit/{}", format.bits, format.group);
  return format.element == ElementType::f32 ? "f32" : format.element == ElementType::f16 ? "f16" : "bf16";
}

}  // namespace lagoon
