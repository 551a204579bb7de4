#include "kernels/canonical_math.h"
#include "kernels/scalar/scalar.h"
#include "kernels/scalar/weights.h"
#include "kernels/tile_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lagoon::scalar {
namespace {

constexpr int largest_group = 128;

using Codes = std::array<std::array<uint8_t, stretch_columns>, tile_rows>;

/// Scales and biases of one group of a tile.
struct Parameters {
  std::array<float, tile_rows> scale;
  std::array<float, tile_rows> bias;
};

void unpack(const std::byte* stretch, int bits, Codes& codes) {
  unpack_stretch(stretch, bits, reinterpret_cast<uint8_t(*)[stretch_columns]>(codes.data()));
}

Parameters read_parameters(const WeightFormat& format, const std::byte* group) {
  Parameters parameters;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  const std::byte* at = group + group_code_bytes(format);
  read_elements(at, format.element, 0, tile_rows, parameters.scale.data());
  read_elements(at, format.element, tile_rows, tile_rows, parameters.bias.data());
  return parameters;
}

/// Columns [begin, begin + 32) of a tile as floats, [16][32]; fewer at the end of a plain matrix.
void read_stretch(const WeightMatrix& matrix, const std::byte* tile, int64_t begin, std::array<std::array<float, stretch_columns>, tile_rows>& out) {
  const WeightFormat& format = matrix.format;
  if (!matrix.affine()) {
    const int64_t count = std::min<int64_t>(stretch_columns, (matrix.columns - begin + 15) / 16 * 16);
    for (int64_t chunk = 0; chunk < count; chunk += 16) {
      for (size_t row = 0; row < tile_rows; ++row) {
        read_elements(tile, format.element, (begin + chunk) * tile_rows + static_cast<int64_t>(row) * 16, 16, out[row].data() + chunk);
      }
    }
    return;
  }
  const std::byte* group = tile + begin / format.group * group_bytes(format);
  const Parameters parameters = read_parameters(format, group);
  Codes codes;
  unpack(group + begin % format.group / stretch_columns * 64 * format.bits, format.bits, codes);
  for (size_t row = 0; row < tile_rows; ++row) {
    for (size_t k = 0; k < stretch_columns; ++k) out[row][k] = parameters.scale[row] * static_cast<float>(codes[row][k]) + parameters.bias[row];
  }
}

/// sum of code * q over one stretch for each row; over a group at most 255 * 32512 * 128, so that 32 bits hold it.
void add_dots(const Codes& codes, const int16_t* q, std::array<int32_t, tile_rows>& sums) {
  for (size_t row = 0; row < tile_rows; ++row) {
    for (size_t k = 0; k < stretch_columns; ++k) sums[row] += codes[row][k] * q[k];
  }
}

void multiply_fixed_tile(const WeightMatrix& matrix, int64_t tile, const FixedRows& x, RowSelection selection, const OutputRows& y) {
  const int group = matrix.format.group;
  const int64_t groups = matrix.columns / group;
  const auto rows = static_cast<size_t>(std::min<int64_t>(tile_rows, matrix.rows - tile * tile_rows));
  for (int64_t i = 0; i < selection.count; ++i) std::fill_n(y.row(i) + tile * tile_rows, rows, 0.0f);
  std::array<Codes, largest_group / stretch_columns> codes;  // NOLINT(cppcoreguidelines-pro-type-member-init): unpack fills it
  for (int64_t g = 0; g < groups; ++g) {
    const std::byte* at = matrix.tile(tile) + g * group_bytes(matrix.format);
    const Parameters parameters = read_parameters(matrix.format, at);
    const auto stretches = static_cast<size_t>(group / stretch_columns);
    for (size_t stretch = 0; stretch < stretches; ++stretch)
      unpack(at + static_cast<int64_t>(stretch) * 64 * matrix.format.bits, matrix.format.bits, codes[stretch]);
    for (int64_t i = 0; i < selection.count; ++i) {
      const int64_t token = selection[i];
      const int16_t* q = x.q + token * x.columns + g * group;
      std::array<int32_t, tile_rows> sums = {};
      for (size_t stretch = 0; stretch < stretches; ++stretch) add_dots(codes[stretch], q + stretch * stretch_columns, sums);
      float* out = y.row(i) + tile * tile_rows;
      for (size_t row = 0; row < rows; ++row) {
        out[row] = std::fma(static_cast<float>(sums[row]), parameters.scale[row] * x.scale[token * groups + g], out[row]);
        out[row] = std::fma(parameters.bias[row], x.sum[token * groups + g], out[row]);
      }
    }
  }
}

void multiply_float_tile(const WeightMatrix& matrix, int64_t tile, const FloatRows& x, RowSelection selection, const OutputRows& y) {
  constexpr int64_t tokens_at_once = 8;
  std::array<std::array<float, stretch_columns>, tile_rows> weights = {};
  const auto rows = static_cast<size_t>(std::min<int64_t>(tile_rows, matrix.rows - tile * tile_rows));
  for (int64_t first = 0; first < selection.count; first += tokens_at_once) {
    const int64_t tokens = std::min(tokens_at_once, selection.count - first);
    float lanes[tokens_at_once][tile_rows][lane_count] = {};
    for (int64_t begin = 0; begin < matrix.columns; begin += stretch_columns) {
      const int64_t count = std::min<int64_t>(stretch_columns, matrix.columns - begin);
      read_stretch(matrix, matrix.tile(tile), begin, weights);
      for (int64_t i = 0; i < tokens; ++i) {
        for (size_t row = 0; row < rows; ++row) add_products(weights[row].data(), x.row(selection[first + i]) + begin, count, lanes[i][row]);
      }
    }
    for (int64_t i = 0; i < tokens; ++i) {
      for (size_t row = 0; row < rows; ++row) y.row(first + i)[tile * tile_rows + static_cast<int64_t>(row)] = reduce_lanes(lanes[i][row]);
    }
  }
}

}  // namespace

void multiply_float(const WeightMatrix& matrix, TileRange tiles, const FloatRows& x, RowSelection selection, const OutputRows& y) {
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) multiply_float_tile(matrix, tile, x, selection, y);
}

void multiply_fixed(const WeightMatrix& matrix, TileRange tiles, const FixedRows& x, RowSelection selection, const OutputRows& y) {
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) multiply_fixed_tile(matrix, tile, x, selection, y);
}

void gate_up_row(const WeightMatrix& gate, const WeightMatrix& up, TileRange tiles, const FixedRows& x, int64_t row, float* y) {
  const auto token = static_cast<int32_t>(row);
  for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    const int64_t first = tile * tile_rows;
    std::array<float, tile_rows> lifted = {};
    multiply_fixed_tile(gate, tile, x, {&token, 1}, {y, 0});
    multiply_fixed_tile(up, tile, x, {&token, 1}, {lifted.data() - first, 0});
    silu_multiply(y + first, lifted.data(), std::min<int64_t>(tile_rows, gate.rows - first));
  }
}

void read_row(const WeightMatrix& matrix, int64_t row, float* out) {
  const WeightFormat& format = matrix.format;
  const std::byte* tile = matrix.tile(row / tile_rows);
  const auto place = static_cast<int>(row % tile_rows);
  if (!matrix.affine()) {
    for (int64_t begin = 0; begin < matrix.columns; begin += 16) {
      read_elements(tile, format.element, begin * tile_rows + place * 16, std::min<int64_t>(16, matrix.columns - begin), out + begin);
    }
    return;
  }
  std::array<uint8_t, stretch_columns> codes = {};
  for (int64_t begin = 0; begin < matrix.columns; begin += stretch_columns) {
    const std::byte* group = tile + begin / format.group * group_bytes(format);
    const float scale = element_at(group + group_code_bytes(format), format.element, place);
    const float bias = element_at(group + group_code_bytes(format), format.element, tile_rows + place);
    unpack_stretch_row(group + begin % format.group / stretch_columns * 64 * format.bits, format.bits, place, codes.data());
    for (size_t k = 0; k < stretch_columns; ++k) out[begin + static_cast<int64_t>(k)] = scale * static_cast<float>(codes[k]) + bias;
  }
}

}  // namespace lagoon::scalar
