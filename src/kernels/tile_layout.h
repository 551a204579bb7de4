// tile_layout.h: how a matrix lies in memory: tiles of 16 rows, each one stream that a product reads once from front to back,
// whether for one token or for many. Packing moves bits and changes no number.
//
// Affine tile, for each group of columns, ascending:
//   codes   16 * group * bits / 8 bytes, in stretches of 32 columns
//   scales  [16], then biases [16]
// A stretch holds vectors of 64 bytes; byte r * 4 + j of a vector belongs to row r and to column j of a quad (4 neighbouring
// columns). A plane of p bits keeps 8 / p quads in a vector: quad i in bits [p * i, p * i + p) of its bytes. Stretches hold
//   2, 4, 8 bits: one plane of that width        (2, 4, 8 vectors)
//   3 bits: a plane of the lower 2, then of the upper 1 (2 + 1 vectors)
//   5 bits: lower 4, then upper 1 (4 + 1);  6 bits: lower 4, then upper 2 (4 + 2)
//
// Plain tile: columns in chunks of 16, each [16 rows][16 columns] elements; columns beyond the matrix are zero.
#pragma once

#include "kernels/rows.h"

#include <cstdint>

namespace lagoon {

constexpr int tile_rows = 16;
constexpr int stretch_columns = 32;
constexpr int quad_columns = 4;
constexpr int code_vector_bytes = tile_rows * quad_columns;

constexpr int64_t tile_count(int64_t rows) { return (rows + tile_rows - 1) / tile_rows; }

/// Bits of the lower plane: 2, 4 or 8. The upper plane has bits - lower_plane_bits(bits), perhaps none.
constexpr int lower_plane_bits(int bits) { return bits == 3 ? 2 : bits == 5 || bits == 6 ? 4 : bits; }

/// Bytes of one affine group of a tile: its codes, and the codes with scales and biases.
constexpr int64_t group_code_bytes(const WeightFormat& format) { return int64_t{tile_rows} * format.group * format.bits / 8; }
constexpr int64_t group_bytes(const WeightFormat& format) { return group_code_bytes(format) + 2 * tile_rows * bytes_of(format.element); }

/// Bytes of a tile of a matrix with so many columns: a multiple of 64.
constexpr int64_t tile_bytes(const WeightFormat& format, int64_t columns) {
  if (format.kind == WeightFormat::Kind::affine) return columns / format.group * group_bytes(format);
  return (columns + 15) / 16 * 16 * tile_rows * bytes_of(format.element);
}

/// Up to 16 rows of a matrix as a checkpoint stores them. Plain: values [rows][columns]. Affine: values are codes, a
/// little-endian bit stream for each row (columns * bits / 8 bytes), scales and biases [rows][columns / group].
struct StoredRows {
  WeightFormat format;
  int64_t rows = 0;  // 1 to 16
  int64_t columns = 0;
  const std::byte* values = nullptr;
  const std::byte* scales = nullptr;
  const std::byte* biases = nullptr;
};

/// Writes one tile; rows that are absent become zeros. @param tile  tile_bytes(), not overlapping the source
void pack_tile(const StoredRows& source, std::byte* tile);

/// Codes of one stretch of a tile's group: of one row, or of all. @param codes [32 columns], or [16 rows][32 columns]
void unpack_stretch_row(const std::byte* stretch, int bits, int row, uint8_t* codes);
void unpack_stretch(const std::byte* stretch, int bits, uint8_t (*codes)[stretch_columns]);

}  // namespace lagoon
