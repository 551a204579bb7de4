#include "laguna/activations.h"

#include "kernels/attention_block.h"

#include <algorithm>

namespace lagoon {
namespace {

/// Elements per row.
struct Widths {
  int64_t heads, attention, gate, experts, chosen, lifted, shared, wide, pairs;

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
    heads = most_heads;
    attention = heads * config.head_dim;
    gate = per_element ? attention : heads;
    experts = sparse ? config.experts : 0;
    chosen = sparse ? config.experts_per_token : 0;
    shared = sparse ? config.shared_width : 0;
    pairs = chosen * config.expert_width;
    const int64_t dense_width = dense ? config.dense_width : 0;
    lifted = std::max(dense_width, pairs);
    wide = std::max({attention, dense_width, shared});
  }
};

}  // namespace

template <typename Each>
void Activations::for_each_buffer(const ModelConfig& config, const StepShape& shape, Each&& each) {
  const Widths w(config);
  rows = shape.rows;
  span_slots = slots(shape);
  for (ClaimedBuffer<float>* buffer : {&residual, &normed, &branch}) each(*buffer, rows * config.hidden);
  each(shared, w.experts > 0 ? rows * config.hidden : 0);
  for (ClaimedBuffer<float>* buffer : {&query, &attended}) each(*buffer, rows * w.attention);
  for (ClaimedBuffer<float>* buffer : {&maximum, &sum}) each(*buffer, rows * w.heads);
  each(span_attended, span_slots * w.attention);
  for (ClaimedBuffer<float>* buffer : {&span_maximum, &span_sum}) each(*buffer, span_slots * w.heads);
  each(gate, rows * w.gate);
  for (ClaimedBuffer<float>* buffer : {&key, &value}) each(*buffer, rows * config.kv_width());
  for (ClaimedBuffer<float>* buffer : {&cosine[0], &sine[0]}) each(*buffer, rows * (config.full_rotary.dimensions / 2));
  for (ClaimedBuffer<float>* buffer : {&cosine[1], &sine[1]}) each(*buffer, rows * (config.sliding_rotary.dimensions / 2));
  each(lifted, rows * w.lifted);
  each(shared_lifted, rows * w.shared);
  each(scores, rows * w.experts);
  each(routes, rows * w.chosen);
  for (ClaimedBuffer<int32_t>* buffer : {&pair_row, &pair_of}) each(*buffer, rows * w.chosen);
  each(pair_begin, w.experts + 1);
  each(experts_used, w.experts);
  each(pair_output, rows * w.chosen * config.hidden);
  for (int at = 0; at < 3; ++at) {
    const auto form = [&](FixedForms& forms, bool used, int64_t elements) {
      if (!used) return;
      each(forms.q[at], rows * elements);
      for (ClaimedBuffer<float>* buffer : {&forms.scale[at], &forms.sum[at]}) each(*buffer, rows * (elements / group_widths[at]));
    };
    form(hidden_forms, shape.hidden_groups[at], config.hidden);
    form(wide_forms, shape.wide_groups[at], w.wide);
    form(pair_forms, shape.pair_groups[at], w.pairs);
  }
}

Activations::Activations(const ModelConfig& config, const StepShape& shape, MemoryBudget& budget) {
  for_each_buffer(config, shape, [&](auto& buffer, int64_t elements) {
    buffer = std::remove_reference_t<decltype(buffer)>(budget, line_name, static_cast<size_t>(elements));
  });
}

int64_t Activations::slots(const StepShape& shape) { return std::max(shape.rows, (shape.context + attention_span - 1) / attention_span); }

Activations::Cost Activations::cost(const ModelConfig& config, StepShape shape) {
  // Every buffer is a multiple of the rows, of the slots, or of neither: two differences tell all.
  const auto bytes_at = [&](int64_t row_count, int64_t slot_count) {
    shape.rows = row_count;
    shape.context = slot_count * attention_span;
    return bytes(config, shape);
  };
  Cost cost;
  cost.per_row = bytes_at(2, 2) - bytes_at(1, 2);
  cost.per_slot = bytes_at(1, 2) - bytes_at(1, 1);
  cost.fixed = bytes_at(1, 1) - cost.per_row - cost.per_slot;
  return cost;
}

uint64_t Activations::bytes(const ModelConfig& config, const StepShape& shape) {
  Activations none;
  uint64_t bytes = 0;
  none.for_each_buffer(config, shape, [&](auto& buffer, int64_t elements) { bytes += static_cast<uint64_t>(elements) * sizeof(buffer[0]); });
  return bytes;
}

}  // namespace lagoon
