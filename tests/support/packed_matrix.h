// packed_matrix.h: a matrix as a checkpoint stores it, packed into the tiles that kernels read.
#pragma once

#include "base/aligned_buffer.h"
#include "kernels/kernel_set.h"
#include "kernels/tile_layout.h"

#include <algorithm>
#include <memory>

namespace lagoon::testing_support {

struct PackedMatrix {
  /// @param stored  any number of rows; read here and not kept
  /// @param gap     bytes behind each tile, as where another matrix's tiles alternate with these
  explicit PackedMatrix(const StoredRows& stored, const KernelSet& kernels = scalar_kernels(), int64_t gap = 0) {
    const int64_t stride = tile_bytes(stored.format, stored.columns) + gap;
    tiles = std::make_shared<AlignedBuffer<std::byte>>(static_cast<size_t>(tile_count(stored.rows) * stride));
    const bool affine = stored.format.kind == WeightFormat::Kind::affine;
    const int64_t row_bytes = affine ? stored.columns * stored.format.bits / 8 : stored.columns * bytes_of(stored.format.element);
    const int64_t scale_bytes = affine ? stored.columns / stored.format.group * bytes_of(stored.format.element) : 0;
    for (int64_t row = 0; row < stored.rows; row += tile_rows) {
      StoredRows part = stored;
      part.rows = std::min<int64_t>(tile_rows, stored.rows - row);
      part.values += row * row_bytes;
      if (affine) part.scales += row * scale_bytes;
      if (affine) part.biases += row * scale_bytes;
      kernels.pack_tile(part, tiles->data() + row / tile_rows * stride);
    }
    matrix = {.format = stored.format, .rows = stored.rows, .columns = stored.columns, .tiles = tiles->data(), .tile_stride = stride};
  }

  TileRange all() const { return {0, tile_count(matrix.rows)}; }

  std::shared_ptr<AlignedBuffer<std::byte>> tiles;
  WeightMatrix matrix;
};

}  // namespace lagoon::testing_support
