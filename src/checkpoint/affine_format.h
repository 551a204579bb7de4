// affine_format.h: MLX affine groups (2, 3, 4, 5, 6, 8 bits): how codes, scales and biases lie in a checkpoint.
//   w[row][k] = scale[row][k / group] * code(row, k) + bias[row][k / group]        (the scale may be negative)
// A row is one little-endian bit stream, lowest bit first: code k has bits [k * bits, (k + 1) * bits). Every group starts on
// a 32-bit word; codes of 3, 5 and 6 bits straddle bytes and words. Bytes at 3 bits: c0 c1 c2' | 'c2 c3 c4 c5' | 'c5 c6 c7.
// Source: ml-explore/mlx, mlx/ops.cpp (quantize), mlx/backend/cpu/quantized.cpp.
// Proof: tests/conformance/checkpoint/affine_format_test.cpp (values made by mx.quantize).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace lagoon {

constexpr std::array<int, 6> affine_bits{2, 3, 4, 5, 6, 8};
constexpr std::array<int, 3> affine_groups{32, 64, 128};

struct AffineFormat {
  int bits = 0;   // one of affine_bits
  int group = 0;  // inputs that share one scale and one bias: one of affine_groups
  bool operator==(const AffineFormat&) const = default;
};

/// The format of a matrix from its row sizes alone: bits = 32 * words / inputs, group = inputs / groups. Packed shapes give no
/// more than the product of the two, so `inputs` must be what the architecture implies.
/// @param words   32-bit words of codes in a row
/// @param groups  scales (and biases) in a row
/// @return nullopt if no format of the tables above gives exactly these sizes
std::optional<AffineFormat> affine_format_of(int64_t words, int64_t groups, int64_t inputs);

}  // namespace lagoon
