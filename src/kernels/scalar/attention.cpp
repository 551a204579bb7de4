#include "kernels/canonical_math.h"
#include "kernels/scalar/scalar.h"
#include "kernels/scalar/weights.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lagoon::scalar {
namespace {

/// Query heads that share one pass over the keys and values.
constexpr int heads_at_once = 16;

struct HeadGroup {
  std::array<std::array<float, attention_block>, heads_at_once> weights;  // [head][position]: scores, then e^(score - maximum)
  std::array<std::array<float, largest_head_dim>, heads_at_once> values;  // [head][head_dim]
};

/// weights = query . key * score_scale, each in the canonical order.
void score_keys(const float* queries, int heads, int head_dim, float score_scale, const KeyValueBlock& block, HeadGroup& group) {
  std::array<float, largest_head_dim> key = {};
  for (int j = 0; j < block.count; ++j) {
    read_elements(block.keys, block.element, int64_t{j} * head_dim, head_dim, key.data());
    for (size_t head = 0; head < static_cast<size_t>(heads); ++head) {
      group.weights[head][static_cast<size_t>(j)] =
          canonical_dot(queries + static_cast<int64_t>(head) * head_dim, key.data(), head_dim) * score_scale;
    }
  }
}

/// values = sum over j ascending of weights[j] * value_j.
void sum_values(int heads, int head_dim, const KeyValueBlock& block, HeadGroup& group) {
  std::array<float, largest_head_dim> value = {};
  for (size_t head = 0; head < static_cast<size_t>(heads); ++head) std::fill_n(group.values[head].begin(), head_dim, 0.0f);
  for (int j = 0; j < block.count; ++j) {
    read_elements(block.values, block.element, int64_t{j} * head_dim, head_dim, value.data());
    for (size_t head = 0; head < static_cast<size_t>(heads); ++head) {
      add_scaled(group.weights[head][static_cast<size_t>(j)], value.data(), group.values[head].data(), head_dim);
    }
  }
}

void attend_group(const float* queries, int heads, int head_dim, float score_scale, const KeyValueBlock& block, const AttentionPartial& partial) {
  HeadGroup group;  // NOLINT(cppcoreguidelines-pro-type-member-init): what is read was written
  score_keys(queries, heads, head_dim, score_scale, block, group);
  std::array<float, heads_at_once> take = {};
  std::array<float, heads_at_once> keep = {};
  for (size_t head = 0; head < static_cast<size_t>(heads); ++head) {
    float* weights = group.weights[head].data();
    const float block_maximum = *std::max_element(weights, weights + block.count);
    for (int j = 0; j < block.count; ++j) weights[j] = canonical_exp(weights[j] - block_maximum);
    const float maximum = std::max(partial.maximum[head], block_maximum);
    keep[head] = canonical_exp(partial.maximum[head] - maximum);
    take[head] = canonical_exp(block_maximum - maximum);
    partial.maximum[head] = maximum;
    partial.sum[head] = std::fma(partial.sum[head], keep[head], canonical_sum(weights, block.count) * take[head]);
  }
  sum_values(heads, head_dim, block, group);
  for (size_t head = 0; head < static_cast<size_t>(heads); ++head) {
    float* out = partial.values + static_cast<int64_t>(head) * head_dim;
    for (int d = 0; d < head_dim; ++d) out[d] = std::fma(out[d], keep[head], group.values[head][static_cast<size_t>(d)] * take[head]);
  }
}

}  // namespace

// For one head: m_b = max of scores, p_j = e^(score_j - m_b), o_b = sum p_j v_j (ascending j), l_b = sum p_j (16 lanes).
// Merge into (m, l, o): n = max(m, m_b), a = e^(m - n), b = e^(m_b - n), l = l a + l_b b, o = o a + o_b b.
void attend_block(const float* queries, int heads, int head_dim, float score_scale, const KeyValueBlock& block, const AttentionPartial& partial) {
  for (int first = 0; first < heads; first += heads_at_once) {
    const int count = std::min(heads_at_once, heads - first);
    const int64_t offset = int64_t{first} * head_dim;
    attend_group(queries + offset, count, head_dim, score_scale, block, {partial.maximum + first, partial.sum + first, partial.values + offset});
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
