// activations.h: every transient buffer of a step, with its shape. Sized once for the largest step.
#pragma once

#include "checkpoint/model_config.h"
#include "laguna/projection.h"
#include "laguna/router.h"
#include "machine/memory_budget.h"

#include <cstdint>

namespace lagoon {

/// What the buffers depend on, beside the model's shape.
struct StepShape {
  int64_t rows = 1;     // most token rows of one step
  int64_t context = 1;  // most positions of a sequence
  // Group widths (group_index) of the affine matrices that read each kind of input; none in oracle precision
  bool hidden_groups[3] = {false, false, false};  // [rows][hidden]
  bool wide_groups[3] = {false, false, false};    // attended rows, inner rows of dense MLPs and of shared experts
  bool pair_groups[3] = {false, false, false};    // inner rows of routed experts
};

struct Activations {
  /// The name of their line in the ledger.
  static constexpr const char* line_name = "prefill workspace";

  Activations(const ModelConfig& config, const StepShape& shape, MemoryBudget& budget);

  /// Bytes that the constructor claims.
  static uint64_t bytes(const ModelConfig& config, const StepShape& shape);

  /// The same as a sum: fixed + rows * per_row + slots(shape) * per_slot.
  struct Cost {
    uint64_t fixed = 0;
    uint64_t per_row = 0;   // of a step
    uint64_t per_slot = 0;  // of a span of the context
  };
  static Cost cost(const ModelConfig& config, StepShape shape);
  static int64_t slots(const StepShape& shape);

  int64_t rows = 0;
  int64_t span_slots = 0;  // rows of span_attended: at least `rows`, at least the spans of a full context

  ClaimedBuffer<float> residual;       // [rows][hidden]
  ClaimedBuffer<float> normed;         // [rows][hidden]
  ClaimedBuffer<float> branch;         // [rows][hidden]: what attention or the MLP adds to the residual
  ClaimedBuffer<float> shared;         // [rows][hidden]: the shared expert's part; none if all layers are dense
  ClaimedBuffer<float> query;          // [rows][heads][head_dim]
  ClaimedBuffer<float> attended;       // [rows][heads][head_dim]
  ClaimedBuffer<float> maximum;        // [rows][heads]: of the scores seen so far
  ClaimedBuffer<float> sum;            // [rows][heads]: of e^(score - maximum)
  ClaimedBuffer<float> span_attended;  // [span_slots][heads][head_dim]: of one span
  ClaimedBuffer<float> span_maximum;   // [span_slots][heads]
  ClaimedBuffer<float> span_sum;       // [span_slots][heads]
  ClaimedBuffer<float> gate;           // [rows][heads] or [rows][heads][head_dim]
  ClaimedBuffer<float> key;            // [rows][kv_heads][head_dim]
  ClaimedBuffer<float> value;          // [rows][kv_heads][head_dim]
  ClaimedBuffer<float> cosine[2];      // [rows][pairs], by AttentionKind
  ClaimedBuffer<float> sine[2];        // [rows][pairs]
  ClaimedBuffer<float> lifted;         // [rows][dense width] or [rows * k][expert width]: silu(gate) * up
  ClaimedBuffer<float> shared_lifted;  // [rows][shared width]

  // Routed experts. A pair is one (row, expert); pairs are numbered by expert, then row.
  ClaimedBuffer<float> scores;          // [rows][experts]
  ClaimedBuffer<Route> routes;          // [rows][k], ascending expert
  ClaimedBuffer<int32_t> pair_row;      // [rows * k]: the row of a pair
  ClaimedBuffer<int32_t> pair_of;       // [rows][k]: the pair of a route
  ClaimedBuffer<int32_t> pair_begin;    // [experts + 1]: first pair of each expert
  ClaimedBuffer<int32_t> experts_used;  // [experts]: ids with at least one pair, ascending
  ClaimedBuffer<float> pair_output;     // [rows * k][hidden]

  FixedForms hidden_forms;  // of inputs [rows][hidden]
  FixedForms wide_forms;    // of attended, of a dense MLP's inner rows, of shared_lifted
  FixedForms pair_forms;    // of the pairs' inner rows

 private:
  Activations() = default;
  /// Calls each(buffer, elements) for every buffer: the one place that knows their sizes.
  template <typename Each>
  void for_each_buffer(const ModelConfig& config, const StepShape& shape, Each&& each);
};

}  // namespace lagoon
