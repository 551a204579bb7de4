#include "kernels/canonical_math.h"
#include "kernels/scalar/scalar.h"
#include "kernels/scalar/weights.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lagoon::scalar {
namespace {

using BlockWeights = std::array<float, attention_block>;  // [place]: scores, then e^(score - maximum)

/// scores[place] = (sum over d ascending of query[d] * key[d], by fused multiply-add) * score_scale.
void score_keys(const float* query, int head_dim, float score_scale, const KeyValueBlock& block, BlockWeights& scores) {
  std::array<float, attention_strip> keys = {};
  for (int first = block.begin / attention_strip * attention_strip; first < block.end; first += attention_strip) {
    std::array<float, attention_strip> sums = {};
    for (int d = 0; d < head_dim; ++d) {
      read_elements(block.keys, block.element, key_offset(first, d, head_dim), attention_strip, keys.data());
      for (size_t j = 0; j < attention_strip; ++j) sums[j] = std::fma(query[d], keys[j], sums[j]);
    }
    for (size_t j = 0; j < attention_strip; ++j) scores[static_cast<size_t>(first) + j] = sums[j] * score_scale;
  }
}

/// values[d] = sum over places ascending of weights[place] * value[place][d], by fused multiply-add.
void sum_values(int head_dim, const KeyValueBlock& block, const BlockWeights& weights, float* values) {
  std::array<float, attention_strip> value = {};
  std::fill_n(values, head_dim, 0.0f);
  for (int first = 0; first < head_dim; first += attention_strip) {
    const int count = std::min(attention_strip, head_dim - first);
    for (int place = block.begin; place < block.end; ++place) {
      read_elements(block.values, block.element, value_offset(place, first), count, value.data());
      add_scaled(weights[static_cast<size_t>(place)], value.data(), values + first, count);
    }
  }
}

void attend_head(const float* query, int head_dim, float score_scale, const KeyValueBlock& block, const AttentionPartial& partial) {
  BlockWeights weights;
  score_keys(query, head_dim, score_scale, block, weights);
  float maximum = *std::max_element(weights.data() + block.begin, weights.data() + block.end);
  float lanes[lane_count] = {};
  for (int place = block.begin; place < block.end; ++place) {
    float& weight = weights[static_cast<size_t>(place)];
    weight = canonical_exp(weight - maximum);
    lanes[place % lane_count] += weight;
  }
  float sum = reduce_lanes(lanes);
  std::array<float, largest_head_dim> values;  // NOLINT(cppcoreguidelines-pro-type-member-init): sum_values fills it
  sum_values(head_dim, block, weights, values.data());
  merge_attention({&maximum, &sum, values.data()}, 1, head_dim, partial);
}

}  // namespace

// For one head: m_b = max of scores, p_j = e^(score_j - m_b), o_b = sum p_j v_j (ascending j), l_b = sum p_j (16 lanes, by place
// in the block); then the block merges into the partial.
void attend_block(const float* queries, int heads, int head_dim, float score_scale, const KeyValueBlock& block, const AttentionPartial& partial) {
  for (int head = 0; head < heads; ++head) {
    const int64_t offset = int64_t{head} * head_dim;
    attend_head(queries + offset, head_dim, score_scale, block, {partial.maximum + head, partial.sum + head, partial.values + offset});
  }
}

// (m, l, o) and the later (m', l', o'): n = max(m, m'), a = e^(m - n), b = e^(m' - n), l = l a + l' b, o = o a + o' b.
void merge_attention(const AttentionPartial& later, int heads, int head_dim, const AttentionPartial& partial) {
  for (int head = 0; head < heads; ++head) {
    const float maximum = std::max(partial.maximum[head], later.maximum[head]);
    const float keep = canonical_exp(partial.maximum[head] - maximum);
    const float take = canonical_exp(later.maximum[head] - maximum);
    partial.maximum[head] = maximum;
    partial.sum[head] = std::fma(partial.sum[head], keep, later.sum[head] * take);
    const float* from = later.values + int64_t{head} * head_dim;
    float* out = partial.values + int64_t{head} * head_dim;
    for (int d = 0; d < head_dim; ++d) out[d] = std::fma(out[d], keep, from[d] * take);
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
