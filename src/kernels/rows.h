// rows.h: what kernels work on: a weight matrix in memory, and the token rows that are multiplied with it.
#pragma once

#include "kernels/weight_format.h"

#include <cstddef>
#include <cstdint>

namespace lagoon {

/// A matrix as the checkpoint stores it: y[row] = sum over k of w[row][k] * x[k].
/// Plain: values [rows][columns]. Affine: values are codes, a little-endian bit stream for each row (columns * bits / 32
/// words), w = scale * code + bias with scales and biases [rows][columns / group]; scales may be negative.
struct WeightMatrix {
  WeightFormat format;
  int64_t rows = 0;
  int64_t columns = 0;
  const std::byte* values = nullptr;
  const std::byte* scales = nullptr;
  const std::byte* biases = nullptr;

  bool affine() const { return format.kind == WeightFormat::Kind::affine; }
};

/// Rows [begin, end) of a weight matrix: what one thread computes.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;
};

/// Which rows of the activations take part, in order: row i is index[i], or i itself where index is null.
struct RowSelection {
  const int32_t* index = nullptr;
  int64_t count = 0;
  int64_t operator[](int64_t at) const { return index ? index[at] : at; }
};

/// Activations in fp32. [rows][columns], rows `stride` apart.
struct FloatRows {
  const float* data = nullptr;
  int64_t stride = 0;
  const float* row(int64_t at) const { return data + at * stride; }
};

/// Activations in 16-bit block fixed point: x[k] ~ scale[k / group] * q[k], q = 256 * high + low, |q| <= 32512.
struct FixedRows {
  const int8_t* high = nullptr;  // [rows][columns]
  const int8_t* low = nullptr;   // [rows][columns]
  const float* scale = nullptr;  // [rows][columns / group]
  const float* sum = nullptr;    // [rows][columns / group]: scale * sum of q over the group
  int64_t columns = 0;
  int group = 0;
};

/// Where FixedRows are written.
struct FixedRowsTarget {
  int8_t* high = nullptr;
  int8_t* low = nullptr;
  float* scale = nullptr;
  float* sum = nullptr;
};

/// Results: [rows][...], rows `stride` apart; element [i][r] is row i of the selection times row r of the matrix.
struct OutputRows {
  float* data = nullptr;
  int64_t stride = 0;
  float* row(int64_t at) const { return data + at * stride; }
};

/// Keys and values of one KV head at neighbouring positions of one block. [count][head_dim] each.
struct KeyValueBlock {
  const std::byte* keys = nullptr;
  const std::byte* values = nullptr;
  ElementType element = ElementType::bf16;  // bf16, or f32 in oracle precision
  int count = 0;                            // 1 to attention_block
};

/// Positions are cut into blocks of this many at absolute borders; each block's softmax is computed by itself and merged
/// in ascending order, so that the result does not depend on how the work was split.
constexpr int attention_block = 128;

/// Kernels keep a head's vector on the stack. Every published model has heads of 128.
constexpr int largest_head_dim = 512;

/// Softmax-weighted values before the final division, of `heads` query heads.
struct AttentionPartial {
  float* maximum = nullptr;  // [heads] largest score so far, -infinity at first
  float* sum = nullptr;      // [heads] sum of e^(score - maximum)
  float* values = nullptr;   // [heads][head_dim] sum of e^(score - maximum) * value
};

}  // namespace lagoon
