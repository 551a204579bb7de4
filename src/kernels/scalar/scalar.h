// scalar.h: the functions behind scalar_kernels(), by file. Vector sets use some of them for what is rare.
#pragma once

#include "kernels/attention_block.h"
#include "kernels/rows.h"

namespace lagoon::scalar {

// fixed_point.cpp
void to_fixed_row(const float* x, int64_t columns, int group, const FixedRowTarget& out);

// multiply.cpp
void multiply_fixed(const WeightMatrix& matrix, TileRange tiles, const FixedRows& x, RowSelection selection, const OutputRows& y);
void multiply_float(const WeightMatrix& matrix, TileRange tiles, const FloatRows& x, RowSelection selection, const OutputRows& y);
void gate_up_row(const WeightMatrix& gate, const WeightMatrix& up, TileRange tiles, const FixedRows& x, int64_t row, float* y);
void read_row(const WeightMatrix& matrix, int64_t row, float* out);

// elementwise.cpp
void rms_norm(const float* x, const float* weight, int64_t count, float epsilon, float* y);
void rotate(float* x, const float* cos, const float* sin, int64_t pairs);
void silu_multiply(float* gate, const float* up, int64_t count);
void gate_head(float gate, float* x, int64_t count);
void gate_elements(const float* gate, float* x, int64_t count);
void router_scores(float* scores, int64_t count, float cap);
void add_scaled(float factor, const float* x, float* y, int64_t count);
void add(const float* x, float* y, int64_t count);
void scale(float factor, float* y, int64_t count);

// attention.cpp
void attend_block(const float* queries, int heads, int head_dim, float score_scale, const KeyValueBlock& block, const AttentionPartial& partial);
void merge_attention(const AttentionPartial& later, int heads, int head_dim, const AttentionPartial& partial);
void finish_attention(const AttentionPartial& partial, int heads, int head_dim, float* out);

}  // namespace lagoon::scalar
