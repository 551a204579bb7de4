#include "kernels/canonical_math.h"
#include "kernels/scalar/scalar.h"
#include "kernels/scalar/weights.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lagoon::scalar {
namespace {

/// Sum of query[d] * key[d] in the canonical order, the key read from storage.
float dot_stored(const float* query, const std::byte* key, ElementType element, int head_dim) {
  std::array<float, lane_count> lanes = {};
  for (int d = 0; d < head_dim; ++d) {
    float& lane = lanes[static_cast<size_t>(d % lane_count)];
    lane = std::fma(query[d], element_at(key, element, d), lane);
  }
  return reduce_lanes(lanes.data());
}

/// out[d] = out[d] * keep + (sum over j ascending of weights[j] * value_j[d]) * take.
void add_weighted_values(const float* weights, const KeyValueBlock& block, int head_dim, float keep, float take, float* out) {
  constexpr int stretch = 16;  // dimensions at once: the values then are read row by row
  for (int begin = 0; begin < head_dim; begin += stretch) {
    const int count = std::min(stretch, head_dim - begin);
    std::array<float, stretch> sums = {};
    for (int j = 0; j < block.count; ++j) {
      for (int d = 0; d < count; ++d) {
        float& sum = sums[static_cast<size_t>(d)];
        sum = std::fma(weights[j], element_at(block.values, block.element, int64_t{j} * head_dim + begin + d), sum);
      }
    }
    for (int d = 0; d < count; ++d) out[begin + d] = std::fma(out[begin + d], keep, sums[static_cast<size_t>(d)] * take);
  }
}

}  // namespace

// For one head: m_b = max of scores, p_j = e^(score_j - m_b), o_b = sum p_j v_j (ascending j), l_b = sum p_j (16 lanes).
// Merge into (m, l, o): n = max(m, m_b), a = e^(m - n), b = e^(m_b - n), l = l a + l_b b, o = o a + o_b b.
void attend_block(const float* queries, int heads, int head_dim, float score_scale, const KeyValueBlock& block, const AttentionPartial& partial) {
  std::array<float, attention_block> weights = {};
  const int64_t row_bytes = int64_t{head_dim} * bytes_of(block.element);
  for (int head = 0; head < heads; ++head) {
    float block_maximum = -std::numeric_limits<float>::infinity();
    for (int j = 0; j < block.count; ++j) {
      const float score = dot_stored(queries + int64_t{head} * head_dim, block.keys + j * row_bytes, block.element, head_dim) * score_scale;
      weights[static_cast<size_t>(j)] = score;
      block_maximum = std::max(block_maximum, score);
    }
    for (int j = 0; j < block.count; ++j) weights[static_cast<size_t>(j)] = canonical_exp(weights[static_cast<size_t>(j)] - block_maximum);
    const float block_sum = canonical_sum(weights.data(), block.count);

    const float previous = partial.maximum[head];
    const float maximum = std::max(previous, block_maximum);
    const float keep = canonical_exp(previous - maximum);
    const float take = canonical_exp(block_maximum - maximum);
    partial.maximum[head] = maximum;
    partial.sum[head] = std::fma(partial.sum[head], keep, block_sum * take);
    add_weighted_values(weights.data(), block, head_dim, keep, take, partial.values + int64_t{head} * head_dim);
  }
}

void finish_attention(const AttentionPartial& partial, int heads, int head_dim, float* out) {
  for (int head = 0; head < heads; ++head) {
    for (int d = 0; d < head_dim; ++d) {
      const int64_t at = int64_t{head} * head_dim + d;
      out[at] = partial.values[at] / partial.sum[head];
    }
  }
}

}  // namespace lagoon::scalar
