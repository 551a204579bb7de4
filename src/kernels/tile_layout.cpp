#include "kernels/tile_layout.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace lagoon {
namespace {

constexpr int quad = 4;  // neighbouring columns in a vector
constexpr int vector_bytes = 64;

/// 32 codes of a row's bit stream, lowest bits first. 32 codes are whole words at every width.
void read_codes(const std::byte* stream, int bits, uint8_t* codes) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(stream);
  const uint32_t mask = (1u << bits) - 1;
  uint32_t window = 0;
  int held = 0;
  for (int at = 0; at < stretch_columns; ++at) {
    if (held < bits) {
      window |= static_cast<uint32_t>(*bytes++) << held;
      held += 8;
    }
    codes[at] = static_cast<uint8_t>(window & mask);
    window >>= bits;
    held -= bits;
  }
}

/// Puts bits [shift, shift + width) of one row's codes into a plane of that width. @return the plane's bytes
int64_t write_plane(const uint8_t* codes, int shift, int width, int row, uint8_t* plane) {
  const int quads = 8 / width;
  const auto mask = static_cast<uint8_t>((1u << width) - 1);
  for (int vector = 0; vector * quads * quad < stretch_columns; ++vector) {
    for (int j = 0; j < quad; ++j) {
      uint32_t byte = 0;
      for (int i = 0; i < quads; ++i) byte |= static_cast<uint32_t>((codes[(vector * quads + i) * quad + j] >> shift) & mask) << (width * i);
      plane[vector * vector_bytes + row * quad + j] = static_cast<uint8_t>(byte);
    }
  }
  return int64_t{stretch_columns} / (quads * quad) * vector_bytes;
}

/// Adds a plane's bits to the codes, moved up by `shift`. @return the plane's bytes
int64_t read_plane(const uint8_t* plane, int shift, int width, uint8_t (*codes)[stretch_columns]) {
  const int quads = 8 / width;
  const uint32_t mask = (1u << width) - 1;
  for (int row = 0; row < tile_rows; ++row) {
    for (int at = 0; at < stretch_columns; ++at) {
      const int vector = at / (quads * quad);
      const int i = at / quad % quads;
      const uint32_t byte = plane[vector * vector_bytes + row * quad + at % quad];
      codes[row][at] = static_cast<uint8_t>(codes[row][at] | ((byte >> (width * i)) & mask) << shift);
    }
  }
  return int64_t{stretch_columns} / (quads * quad) * vector_bytes;
}

void pack_affine(const StoredRows& source, std::byte* tile) {
  const int bits = source.format.bits;
  const int lower = lower_plane_bits(bits);
  const int64_t groups = source.columns / source.format.group;
  const int64_t row_bytes = source.columns * bits / 8;
  const auto element = static_cast<size_t>(bytes_of(source.format.element));
  for (int64_t group = 0; group < groups; ++group) {
    auto* codes_out = reinterpret_cast<uint8_t*>(tile + group * group_bytes(source.format));
    for (int64_t column = group * source.format.group; column < (group + 1) * source.format.group; column += stretch_columns) {
      for (int row = 0; row < source.rows; ++row) {
        std::array<uint8_t, stretch_columns> codes = {};
        read_codes(source.values + row * row_bytes + column * bits / 8, bits, codes.data());
        const int64_t next = write_plane(codes.data(), 0, lower, row, codes_out);
        if (bits > lower) write_plane(codes.data(), lower, bits - lower, row, codes_out + next);
      }
      codes_out += int64_t{vector_bytes} * bits;
    }
    auto* parameters = reinterpret_cast<std::byte*>(codes_out);
    for (int64_t row = 0; row < source.rows; ++row) {
      const int64_t from = (row * groups + group) * static_cast<int64_t>(element);
      std::memcpy(parameters + row * static_cast<int64_t>(element), source.scales + from, element);
      std::memcpy(parameters + (tile_rows + row) * static_cast<int64_t>(element), source.biases + from, element);
    }
  }
}

void pack_plain(const StoredRows& source, std::byte* tile) {
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
  if (source.rows < tile_rows) std::memset(tile, 0, static_cast<size_t>(tile_bytes(source.format, source.columns)));
  if (source.format.kind == WeightFormat::Kind::affine) {
    pack_affine(source, tile);
  } else {
    pack_plain(source, tile);
  }
}

void unpack_stretch(const std::byte* stretch, int bits, uint8_t (*codes)[stretch_columns]) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(stretch);
  const int lower = lower_plane_bits(bits);
  std::memset(codes, 0, sizeof(uint8_t) * tile_rows * stretch_columns);
  const int64_t next = read_plane(bytes, 0, lower, codes);
  if (bits > lower) read_plane(bytes + next, lower, bits - lower, codes);
}

}  // namespace lagoon
