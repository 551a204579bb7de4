#include "kernels/canonical_math.h"
#include "kernels/scalar/scalar.h"

#include <cmath>

namespace lagoon::scalar {

void rms_norm(const float* x, const float* weight, int64_t count, float epsilon, float* y) {
  const float mean = canonical_dot(x, x, count) / static_cast<float>(count);
  const float factor = 1.0f / std::sqrt(mean + epsilon);
  for (int64_t at = 0; at < count; ++at) y[at] = x[at] * factor * weight[at];
}

void rotate(float* x, const float* cos, const float* sin, int64_t pairs) {
  for (int64_t at = 0; at < pairs; ++at) {
    const float a = x[at];
    const float b = x[at + pairs];
    x[at] = a * cos[at] - b * sin[at];
    x[at + pairs] = b * cos[at] + a * sin[at];
  }
}

void silu_multiply(float* gate, const float* up, int64_t count) {
  for (int64_t at = 0; at < count; ++at) gate[at] = canonical_silu(gate[at]) * up[at];
}

void gate_head(float gate, float* x, int64_t count) { scale(canonical_softplus(gate), x, count); }

void gate_elements(const float* gate, float* x, int64_t count) {
  for (int64_t at = 0; at < count; ++at) x[at] *= canonical_softplus(gate[at]);
}

void router_scores(float* scores, int64_t count, float cap) {
  for (int64_t at = 0; at < count; ++at) {
    const float logit = cap > 0.0f ? cap * canonical_tanh(scores[at] / cap) : scores[at];
    scores[at] = canonical_sigmoid(logit);
  }
}

void add_scaled(float factor, const float* x, float* y, int64_t count) {
  for (int64_t at = 0; at < count; ++at) y[at] = std::fma(factor, x[at], y[at]);
}

void add(const float* x, float* y, int64_t count) {
  for (int64_t at = 0; at < count; ++at) y[at] += x[at];
}

void scale(float factor, float* y, int64_t count) {
  for (int64_t at = 0; at < count; ++at) y[at] *= factor;
}

}  // namespace lagoon::scalar
