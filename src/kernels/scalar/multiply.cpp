#include "kernels/canonical_math.h"
#include "kernels/scalar/scalar.h"
#include "kernels/scalar/weights.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lagoon::scalar {
namespace {

constexpr int largest_group = 128;

const std::byte* code_row(const WeightMatrix& matrix, int64_t row) { return matrix.values + row * (matrix.columns * matrix.format.bits / 8); }

/// sum of code * q over one group; at most 255 * 32512 * 128, so that 32 bits hold it.
int32_t dot_codes(const int16_t* codes, const int8_t* high, const int8_t* low, int count) {
  int32_t upper = 0;
  int32_t lower = 0;
  for (int k = 0; k < count; ++k) {
    upper += codes[k] * high[k];
    lower += codes[k] * low[k];
  }
  return upper * 256 + lower;
}

}  // namespace

void read_columns(const WeightMatrix& matrix, int64_t row, int64_t begin, int64_t count, float* out) {
  if (!matrix.affine()) {
    read_elements(matrix.values, matrix.format.element, row * matrix.columns + begin, count, out);
    return;
  }
  const int group = matrix.format.group;
  std::array<int16_t, largest_group> codes = {};
  for (int64_t at = 0; at < count; at += group) {
    unpack_codes(code_row(matrix, row), matrix.format.bits, begin + at, group, codes.data());
    const int64_t parameter = (row * matrix.columns + begin + at) / group;
    const float scale = element_at(matrix.scales, matrix.format.element, parameter);
    const float bias = element_at(matrix.biases, matrix.format.element, parameter);
    for (int k = 0; k < group; ++k) out[at + k] = scale * static_cast<float>(codes[static_cast<size_t>(k)]) + bias;
  }
}

void read_row(const WeightMatrix& matrix, int64_t row, float* out) { read_columns(matrix, row, 0, matrix.columns, out); }

void multiply_fixed(const WeightMatrix& matrix, RowRange rows, const FixedRows& x, RowSelection selection, const OutputRows& y) {
  const int group = matrix.format.group;
  const int64_t groups = matrix.columns / group;
  std::array<int16_t, largest_group> codes = {};
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    for (int64_t i = 0; i < selection.count; ++i) y.row(i)[row] = 0.0f;
    for (int64_t g = 0; g < groups; ++g) {
      unpack_codes(code_row(matrix, row), matrix.format.bits, g * group, group, codes.data());
      const float scale = element_at(matrix.scales, matrix.format.element, row * groups + g);
      const float bias = element_at(matrix.biases, matrix.format.element, row * groups + g);
      for (int64_t i = 0; i < selection.count; ++i) {
        const int64_t token = selection[i];
        const int64_t first = token * x.columns + g * group;
        const int32_t dot = dot_codes(codes.data(), x.high + first, x.low + first, group);
        float& sum = y.row(i)[row];
        sum = std::fma(static_cast<float>(dot), scale * x.scale[token * groups + g], sum);
        sum = std::fma(bias, x.sum[token * groups + g], sum);
      }
    }
  }
}

void multiply_float(const WeightMatrix& matrix, RowRange rows, const FloatRows& x, RowSelection selection, const OutputRows& y) {
  // The row is widened in stretches that keep lane and group borders; the 16 lanes of each token live across stretches.
  constexpr int64_t stretch = 512;
  constexpr int64_t tokens_at_once = 8;
  std::array<float, stretch> weights = {};
  std::array<std::array<float, lane_count>, tokens_at_once> lanes = {};
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    for (int64_t first = 0; first < selection.count; first += tokens_at_once) {
      const int64_t tokens = std::min(tokens_at_once, selection.count - first);
      for (auto& token_lanes : lanes) token_lanes.fill(0.0f);
      for (int64_t begin = 0; begin < matrix.columns; begin += stretch) {
        const int64_t count = std::min(stretch, matrix.columns - begin);
        read_columns(matrix, row, begin, count, weights.data());
        for (int64_t i = 0; i < tokens; ++i) {
          add_products(weights.data(), x.row(selection[first + i]) + begin, count, lanes[static_cast<size_t>(i)].data());
        }
      }
      for (int64_t i = 0; i < tokens; ++i) y.row(first + i)[row] = reduce_lanes(lanes[static_cast<size_t>(i)].data());
    }
  }
}

}  // namespace lagoon::scalar
