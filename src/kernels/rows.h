// rows.h: what kernels work on: a weight matrix in tiles, and the token rows that are multiplied with it.
#pragma once

#include "kernels/weight_format.h"

#include <cstddef>
#include <cstdint>

namespace lagoon {

/// A matrix in memory: y[row] = sum over k of w[row][k] * x[k]. Its rows stand in tiles of 16 (tile_layout.h); tile t begins
/// at tiles + t * tile_stride, so that the tiles of two matrices can alternate. Rows beyond `rows` in the last tile are zero.
/// Affine: w = scale * code + bias for each group of columns; scales may be negative.
struct WeightMatrix {
  WeightFormat format;
  int64_t rows = 0;
  int64_t columns = 0;
  const std::byte* tiles = nullptr;
  int64_t tile_stride = 0;  // bytes

  bool affine() const { return format.kind == WeightFormat::Kind::affine; }
  const std::byte* tile(int64_t at) const { return tiles + at * tile_stride; }
};

/// Tiles [begin, end) of a weight matrix: what one thread computes.
struct TileRange {
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

/// Activations in 16-bit block fixed point: x[k] ~ scale[k / group] * q[k], |q| <= 32512. How the columns of a row follow each
/// other in q is the kernel set's own affair: what to_fixed_row wrote, multiply of the same set reads.
struct FixedRows {
  const int16_t* q = nullptr;    // [rows][columns]
  const float* scale = nullptr;  // [rows][columns / group]
  const float* sum = nullptr;    // [rows][columns / group]: scale * sum of q over the group
  int64_t columns = 0;
  int group = 0;
};

/// Where one row of FixedRows is written.
struct FixedRowTarget {
  int16_t* q = nullptr;    // [columns]
  float* scale = nullptr;  // [columns / group]
  float* sum = nullptr;    // [columns / group]
};

/// The widths of groups that formats know.
constexpr int group_widths[3] = {32, 64, 128};
constexpr int group_index(int group) { return group == 32 ? 0 : group == 64 ? 1 : 2; }

/// Token rows in the forms that products take: as floats, and in fixed point for the group widths that are wanted. A product
/// with an affine matrix uses the fixed form of the matrix's group where there is one, else the floats.
struct InputRows {
  FloatRows floats;
  FixedRows fixed[3];  // by group_index; q is null where the form is not given

  bool has_fixed(const WeightFormat& format) const {
    return format.kind == WeightFormat::Kind::affine && fixed[group_index(format.group)].q != nullptr;
  }
};

/// Results: [rows][...], rows `stride` apart; element [i][r] is row i of the selection times row r of the matrix.
struct OutputRows {
  float* data = nullptr;
  int64_t stride = 0;
  float* row(int64_t at) const { return data + at * stride; }
};

}  // namespace lagoon
