#include "checkpoint/affine_format.h"

namespace lagoon {

std::optional<AffineFormat> affine_format_of(int64_t words, int64_t groups, int64_t inputs) {
  for (const int bits : affine_bits) {
    for (const int group : affine_groups) {
      // Divisions, not products: the sizes come from a file.
      if (inputs > 0 && inputs % group == 0 && inputs / group == groups && words % bits == 0 && words / bits == inputs / 32) {
        return AffineFormat{bits, group};
      }
    }
  }
  return std::nullopt;
}

}  // namespace lagoon
