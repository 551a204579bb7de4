#include "laguna/activations.h"

#include <algorithm>

namespace lagoon {
namespace {

/// Elements per row of each buffer; the one place that knows, for the constructor and for bytes().
struct Widths {
  int64_t hidden, heads, attention, gate, kv, full_pairs, sliding_pairs, mlp, experts, chosen, pair_output, fixed;

  explicit Widths(const ModelConfig& config) {
    int most_heads = 0;
    bool sparse = false;
    bool dense = false;
    bool per_element = false;
    for (const LayerConfig& layer : config.layers) {
      most_heads = std::max(most_heads, layer.query_heads);
      (layer.dense ? dense : sparse) = true;
      per_element = per_element || layer.gate == GateKind::per_element;
    }
    hidden = config.hidden;
    heads = most_heads;
    attention = heads * config.head_dim;
    gate = per_element ? attention : heads;
    kv = config.kv_width();
    full_pairs = config.full_rotary.dimensions / 2;
    sliding_pairs = config.sliding_rotary.dimensions / 2;
    experts = sparse ? config.experts : 0;
    chosen = sparse ? config.experts_per_token : 0;
    mlp = std::max({dense ? int64_t{config.dense_width} : 0, sparse ? int64_t{config.shared_width} : 0, chosen * config.expert_width});
    pair_output = chosen * hidden;
    fixed = std::max({hidden, attention, mlp});
  }
};

constexpr const char* name = "activations";
constexpr int smallest_group = 32;

}  // namespace

Activations::Activations(const ModelConfig& config, int64_t row_count, MemoryBudget& budget) : rows(row_count) {
  const Widths widths(config);
  const auto floats = [&](int64_t width) { return ClaimedBuffer<float>(budget, name, static_cast<size_t>(rows * width)); };
  const auto integers = [&](int64_t count) { return ClaimedBuffer<int32_t>(budget, name, static_cast<size_t>(count)); };
  residual = floats(widths.hidden);
  normed = floats(widths.hidden);
  branch = floats(widths.hidden);
  shared = floats(widths.hidden);
  query = floats(widths.attention);
  attended = floats(widths.attention);
  gate = floats(widths.gate);
  key = floats(widths.kv);
  value = floats(widths.kv);
  maximum = floats(widths.heads);
  sum = floats(widths.heads);
  cosine[0] = floats(widths.full_pairs);
  sine[0] = floats(widths.full_pairs);
  cosine[1] = floats(widths.sliding_pairs);
  sine[1] = floats(widths.sliding_pairs);
  mlp_gate = floats(widths.mlp);
  mlp_up = floats(widths.mlp);
  scores = floats(widths.experts);
  routes = ClaimedBuffer<Route>(budget, name, static_cast<size_t>(rows * widths.chosen));
  pair_row = integers(rows * widths.chosen);
  pair_of = integers(rows * widths.chosen);
  pair_begin = integers(widths.experts + 1);
  experts_used = integers(widths.experts);
  pair_output = floats(widths.pair_output);

  const auto elements = static_cast<size_t>(rows * widths.fixed);
  fixed.high = ClaimedBuffer<int8_t>(budget, name, elements);
  fixed.low = ClaimedBuffer<int8_t>(budget, name, elements);
  fixed.scale = ClaimedBuffer<float>(budget, name, elements / smallest_group);
  fixed.sum = ClaimedBuffer<float>(budget, name, elements / smallest_group);
}

uint64_t Activations::bytes(const ModelConfig& config, int64_t rows) {
  // The constructor itself, against a ledger that refuses nothing, would allocate; the sum is short enough to state.
  const Widths w(config);
  const int64_t floats = 4 * w.hidden + 2 * w.attention + w.gate + 2 * w.kv + 2 * w.heads + 2 * (w.full_pairs + w.sliding_pairs) + 2 * w.mlp +
                         w.experts + 2 * w.chosen + 2 * w.chosen + w.pair_output;  // a Route is two numbers of 4 bytes
  const int64_t fixed = 2 * rows * w.fixed + 8 * (rows * w.fixed / smallest_group);
  return static_cast<uint64_t>(4 * (rows * floats + 2 * w.experts + 1) + fixed);
}

}  // namespace lagoon
