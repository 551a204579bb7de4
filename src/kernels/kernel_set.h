// kernel_set.h: one table of functions for each instruction set. Whatever the set, the bits are those of scalar/, the
// reference in plain loops. Kernels neither throw nor allocate; sizes and formats were checked when the model was built.
#pragma once

#include "kernels/attention_block.h"
#include "kernels/rows.h"
#include "kernels/tile_layout.h"
#include "machine/cpu_features.h"

#include <string_view>
#include <vector>

namespace lagoon {

struct KernelSet {
  const char* name;

  /// The instructions that products are bounded by, as named in peak_probes.h, and how many products of theirs one
  /// multiply-add in fixed point takes: two of bytes, or one of 16 bits.
  const char* fixed_probe;
  int fixed_products;
  const char* float_probe;

  /// pack_tile of tile_layout.h.
  void (*pack_tile)(const StoredRows& source, std::byte* tile);

  /// One row of activations to 16-bit block fixed point: for each group s = max|x| / 32512, q = x / s rounded to nearest
  /// even. A group with a number that is not finite gets a NaN scale, so that it shows in the result.
  void (*to_fixed_row)(const float* x, int64_t columns, int group, const FixedRowTarget& out);

  /// y[i][r] = row r of the matrix times row i of the selection, for the rows of the tiles; rows beyond the matrix are not
  /// written. Affine with x in fixed point: for each group, ascending, y = fma(float(sum(code * q)), scale * s, y), then
  /// y = fma(bias, s * sum(q), y). @pre matrix.format.group == x.group
  void (*multiply_fixed)(const WeightMatrix& matrix, TileRange tiles, const FixedRows& x, RowSelection selection, const OutputRows& y);

  /// As multiply_fixed, with unrounded activations in the canonical order: plain weights, or affine ones as
  /// scale * code + bias (two roundings).
  void (*multiply_float)(const WeightMatrix& matrix, TileRange tiles, const FloatRows& x, RowSelection selection, const OutputRows& y);

  /// y[r] = silu(gate row r . x) * (up row r . x) for one row of x, both matrices read in one pass. @param y  [matrix rows]
  /// @pre gate and up have one shape and one affine format
  void (*gate_up_row)(const WeightMatrix& gate, const WeightMatrix& up, TileRange tiles, const FixedRows& x, int64_t row, float* y);

  /// One row of a matrix as floats: the embedding of a token. @param out [columns]
  void (*read_row)(const WeightMatrix& matrix, int64_t row, float* out);

  /// y = x / sqrt(mean(x^2) + epsilon) * weight. x and y may be the same.
  void (*rms_norm)(const float* x, const float* weight, int64_t count, float epsilon, float* y);

  /// Rotate-half: for i < pairs, (a, b) = (x[i], x[i + pairs]) becomes (a cos - b sin, b cos + a sin). @param cos, sin [pairs]
  void (*rotate)(float* x, const float* cos, const float* sin, int64_t pairs);

  /// gate[i] = silu(gate[i]) * up[i].
  void (*silu_multiply)(float* gate, const float* up, int64_t count);

  /// x[i] *= softplus(gate) with one gate for all, or x[i] *= softplus(gate[i]).
  void (*gate_head)(float gate, float* x, int64_t count);
  void (*gate_elements)(const float* gate, float* x, int64_t count);

  /// scores[i] = sigmoid(cap > 0 ? cap * tanh(scores[i] / cap) : scores[i]).
  void (*router_scores)(float* scores, int64_t count, float cap);

  /// y[i] = fma(factor, x[i], y[i]);  y[i] += x[i];  y[i] *= factor.
  void (*add_scaled)(float factor, const float* x, float* y, int64_t count);
  void (*add)(const float* x, float* y, int64_t count);
  void (*scale)(float factor, float* y, int64_t count);

  /// Attends `heads` query heads [heads][head_dim] over one block and merges the result into `partial`.
  void (*attend_block)(const float* queries, int heads, int head_dim, float score_scale, const KeyValueBlock& block, const AttentionPartial& partial);

  /// Merges `later`, of keys that follow, into `partial`.
  void (*merge_attention)(const AttentionPartial& later, int heads, int head_dim, const AttentionPartial& partial);

  /// out = partial.values / partial.sum. [heads][head_dim]
  void (*finish_attention)(const AttentionPartial& partial, int heads, int head_dim, float* out);
};

/// Products in whichever form x is given in for the matrix's format.
void multiply(const KernelSet& kernels, const WeightMatrix& matrix, TileRange tiles, const InputRows& x, RowSelection selection, const OutputRows& y);

/// y[i][r] = silu(gate row r . x[i]) * (up row r . x[i]), each product as in multiply. @pre gate and up have one shape
void multiply_gate_up(const KernelSet& kernels, const WeightMatrix& gate, const WeightMatrix& up, TileRange tiles, const InputRows& x,
                      RowSelection selection, const OutputRows& y);

/// The reference set: plain loops that run on every machine.
const KernelSet& scalar_kernels();

/// The sets of this build that `cpu` can run, best first; the scalar set is always last.
std::vector<const KernelSet*> runnable_kernel_sets(const CpuFeatures& cpu);

/// @param name  as in KernelSet::name, or "auto" for the best. @throws Error(invalid) with the names that would do
const KernelSet& kernel_set_named(std::string_view name, const CpuFeatures& cpu);

}  // namespace lagoon
