// activations.h: every transient buffer of a step, with its shape. Sized once for the largest step.
#pragma once

#include "checkpoint/model_config.h"
#include "laguna/compute.h"
#include "laguna/router.h"
#include "machine/memory_budget.h"

#include <cstdint>

namespace lagoon {

struct Activations {
  /// @param rows  most token rows of one step
  Activations(const ModelConfig& config, int64_t rows, MemoryBudget& budget);

  /// Bytes that the constructor claims.
  static uint64_t bytes(const ModelConfig& config, int64_t rows);

  int64_t rows;

  ClaimedBuffer<float> residual;   // [rows][hidden]
  ClaimedBuffer<float> normed;     // [rows][hidden]
  ClaimedBuffer<float> branch;     // [rows][hidden]: what attention or the MLP adds to the residual
  ClaimedBuffer<float> shared;     // [rows][hidden]: the shared expert's part
  ClaimedBuffer<float> query;      // [rows][heads][head_dim]
  ClaimedBuffer<float> attended;   // [rows][heads][head_dim]
  ClaimedBuffer<float> gate;       // [rows][heads] or [rows][heads][head_dim]
  ClaimedBuffer<float> key;        // [rows][kv_heads][head_dim]
  ClaimedBuffer<float> value;      // [rows][kv_heads][head_dim]
  ClaimedBuffer<float> maximum;    // [rows][heads]: of the scores seen so far
  ClaimedBuffer<float> sum;        // [rows][heads]: of e^(score - maximum)
  ClaimedBuffer<float> cosine[2];  // [rows][pairs], by AttentionKind
  ClaimedBuffer<float> sine[2];    // [rows][pairs]
  ClaimedBuffer<float> mlp_gate;   // [rows or rows * k][width], the widest MLP
  ClaimedBuffer<float> mlp_up;     // as mlp_gate

  // Routed experts. A pair is one (row, expert); pairs are numbered by expert, then row.
  ClaimedBuffer<float> scores;          // [rows][experts]
  ClaimedBuffer<Route> routes;          // [rows][k], ascending expert
  ClaimedBuffer<int32_t> pair_row;      // [rows * k]: the row of a pair
  ClaimedBuffer<int32_t> pair_of;       // [rows][k]: the pair of a route
  ClaimedBuffer<int32_t> pair_begin;    // [experts + 1]: first pair of each expert
  ClaimedBuffer<int32_t> experts_used;  // [experts]: ids with at least one pair, ascending
  ClaimedBuffer<float> pair_output;     // [rows * k][hidden]

  FixedScratch fixed;
};

}  // namespace lagoon
