#include "kernels/tile_layout.h"

#include "kernels/vector/pack_tile.h"

#include <algorithm>
#include <cstring>

namespace lagoon {
namespace {

/// For pack_tile.h.
struct Portable {};

/// Adds a plane's bits of one row to its codes, moved up by `shift`. @param codes [32 columns]
void read_plane(const uint8_t* plane, int shift, int width, int row, uint8_t* codes) {
  const int quads = 8 / width;
  const uint32_t mask = (1u << width) - 1;
  for (int quad = 0; quad * quad_columns < stretch_columns; ++quad) {
    const uint8_t* bytes = plane + quad / quads * code_vector_bytes + row * quad_columns;
    const int lowest = width * (quad % quads);
    for (int j = 0; j < quad_columns; ++j) {
      uint8_t& code = codes[quad * quad_columns + j];
      code = static_cast<uint8_t>(code | ((uint32_t{bytes[j]} >> lowest) & mask) << shift);
    }
  }
}

void pack_plain(const StoredRows& source, std::byte* tile) {
  if (source.rows < tile_rows) std::memset(tile, 0, static_cast<size_t>(tile_bytes(source.format, source.columns)));
  const int64_t element = bytes_of(source.format.element);
  const int64_t chunk = 16 * element;
  for (int64_t row = 0; row < source.rows; ++row) {
    const std::byte* from = source.values + row * source.columns * element;
    for (int64_t column = 0; column < source.columns; column += 16) {
      const int64_t count = std::min<int64_t>(16, source.columns - column);
      std::memcpy(tile + (column * tile_rows + row * 16) * element, from + column * element, static_cast<size_t>(count * element));
      if (count < 16) std::memset(tile + (column * tile_rows + row * 16 + count) * element, 0, static_cast<size_t>(chunk - count * element));
    }
  }
}

}  // namespace

void pack_tile(const StoredRows& source, std::byte* tile) {
  if (source.format.kind == WeightFormat::Kind::affine) {
    vector::pack_affine_tile<Portable>(source, tile);
  } else {
    pack_plain(source, tile);
  }
}

void unpack_stretch_row(const std::byte* stretch, int bits, int row, uint8_t* codes) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(stretch);
  const int lower = lower_plane_bits(bits);
  std::memset(codes, 0, stretch_columns);
  read_plane(bytes, 0, lower, row, codes);
  if (bits > lower) read_plane(bytes + lower * code_vector_bytes, lower, bits - lower, row, codes);
}

void unpack_stretch(const std::byte* stretch, int bits, uint8_t (*codes)[stretch_columns]) {
  for (int row = 0; row < tile_rows; ++row) unpack_stretch_row(stretch, bits, row, codes[row]);
}

}  // namespace lagoon
