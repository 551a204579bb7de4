#include "kernels/scalar/scalar.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lagoon::scalar {
namespace {

constexpr float largest_q = 32512.0f;  // 127 * 256: both bytes of q then fit a signed byte

}  // namespace

void to_fixed_row(const float* x, int64_t columns, int group, const FixedRowTarget& out) {
  for (int64_t begin = 0, at = 0; begin < columns; begin += group, ++at) {
    float largest = 0.0f;
    bool finite = true;
    for (int64_t k = begin; k < begin + group; ++k) {
      largest = std::max(largest, std::fabs(x[k]));
      finite = finite && std::isfinite(x[k]);
    }
    const float s = finite ? largest / largest_q : std::numeric_limits<float>::quiet_NaN();
    int32_t sum = 0;
    for (int64_t k = begin; k < begin + group; ++k) {
      // Where s is subnormal its rounding can lift x / s above the range: clamp.
      const float ratio = s > 0.0f ? std::clamp(x[k] / s, -largest_q, largest_q) : 0.0f;
      const auto q = static_cast<int32_t>(std::nearbyint(ratio));
      out.q[k] = static_cast<int16_t>(q);
      sum += q;
    }
    out.scale[at] = s;
    out.sum[at] = s * static_cast<float>(sum);
  }
}

}  // namespace lagoon::scalar
