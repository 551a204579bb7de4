// attention.h: the token rows of a step write their keys and values, then look at what they may see.
#pragma once

#include "base/matrix_view.h"
#include "laguna/activations.h"
#include "laguna/compute.h"
#include "laguna/step.h"

namespace lagoon {

/// Each head of each row by itself: RMS norm over head_dim. heads [rows][count * head_dim]
void normalize_heads(MatrixView<float> heads, std::span<const float> weight, float epsilon, const Compute& compute);

/// Rotates the front of every head by its row's angles. @param cosine, sine [rows][pairs]
void rotate_heads(MatrixView<float> heads, int head_dim, MatrixView<const float> cosine, MatrixView<const float> sine, const Compute& compute);

/// Writes a layer's keys and values [rows][kv_heads * head_dim] into the caches. @pre every cache has reserved its rows
void append_keys_values(const Step& step, int layer, MatrixView<const float> key, MatrixView<const float> value, int head_dim,
                        const Compute& compute);

/// out[row][head] = softmax over visible keys of (query . key / sqrt(head_dim)) * value; query head h uses KV head
/// h / (heads / kv_heads). query and out [rows][heads * head_dim]; maximum and sum [rows][heads] are room.
void attend(const ModelConfig& config, const Step& step, int layer, MatrixView<const float> query, MatrixView<float> maximum, MatrixView<float> sum,
            MatrixView<float> out, const Compute& compute);

/// out *= softplus(gate), one gate for each head or for each element. gate [rows][heads] or [rows][heads * head_dim]
void gate_softplus(MatrixView<const float> gate, GateKind kind, int head_dim, MatrixView<float> out, const Compute& compute);

}  // namespace lagoon
