// attention.h: the token rows of a step write their keys and values, then look at what they may see.
#pragma once

#include "base/matrix_view.h"
#include "laguna/activations.h"
#include "laguna/compute.h"
#include "laguna/step.h"

namespace lagoon {

/// One layer's attention: its heads, its step, and views of the step's buffers.
struct AttentionLayer {
  const ModelConfig& config;
  const LayerConfig& shape;
  const LayerWeights& weights;
  const Step& step;
  int layer;
  MatrixView<float> query;     // [rows][heads * head_dim]
  MatrixView<float> key;       // [rows][kv_heads * head_dim]
  MatrixView<float> value;     // [rows][kv_heads * head_dim]
  MatrixView<float> gate;      // [rows][heads] or [rows][heads * head_dim]
  MatrixView<float> attended;  // [rows][heads * head_dim]
  Activations& room;           // maximum, sum and what is kept of spans
};

/// Each head of query and key is normed, then rotated; keys and values go into the caches; then
/// attended[row][head] = softplus(gate) * softmax over visible keys of (query . key / sqrt(head_dim)) * value; query head h
/// uses KV head h / (heads / kv_heads); one gate for each head, or for each element.
/// @pre every cache has reserved its rows
void attend(const AttentionLayer& layer, const Compute& compute);

}  // namespace lagoon
