// pack_tile.h: the affine half of pack_tile (tile_layout.h). Plain code with a tile's 16 rows in the innermost loops, which
// compilers turn into vector instructions of whatever set a unit is compiled for; hence templates over a type P in an unnamed
// namespace of that unit, so that nothing compiled for one set can be linked into another.
#pragma once

#include "kernels/tile_layout.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace lagoon::vector {

/// Words of a row that are gathered before their codes are moved. A stretch of a row is as many words as its codes have bits, in
/// the checkpoint and in the tile.
constexpr int64_t gathered_stretches = 16;

template <class P>
struct RowWords {
  alignas(64) uint32_t row[tile_rows];
};

template <class P, int bits>
struct StretchWords {
  uint32_t at[bits];
};

/// `count` ones, in each of the places where `every` has a one.
constexpr uint32_t ones(int count, uint32_t every = 1) { return ((1u << count) - 1) * every; }

/// Exchanges the bits of `mask` with those `distance` above them.
template <class P>
[[gnu::always_inline]] inline uint32_t exchanged(uint32_t word, uint32_t mask, int distance) {
  const uint32_t differing = (word ^ (word >> distance)) & mask;
  return word ^ differing ^ (differing << distance);
}

/// A quad of a row's codes, lowest bits first, as 4 bytes. Neighbours are moved apart by halves: pairs, then single codes.
template <class P, int bits, int quad>
[[gnu::always_inline]] inline uint32_t spread_quad(const StretchWords<P, bits>& words) {
  constexpr int word = quad * quad_columns * bits / 32;
  constexpr int shift = quad * quad_columns * bits % 32;
  uint32_t codes = words.at[word] >> shift;
  if constexpr (shift + quad_columns * bits > 32) codes |= words.at[word + 1] << (32 - shift);
  constexpr uint32_t lower = ones(2 * bits);
  const uint32_t pairs = (codes & lower) | ((codes << (16 - 2 * bits)) & (lower << 16));
  constexpr uint32_t even = ones(bits, 0x00010001u);
  return (pairs & even) | ((pairs << (8 - bits)) & (even << 8));
}

template <class P, int bits, int quad>
[[gnu::always_inline]] inline void add_to_planes(const StretchWords<P, bits>& words, StretchWords<P, bits>& planes) {
  constexpr int lower = lower_plane_bits(bits);
  constexpr int upper = bits - lower;
  const uint32_t codes = spread_quad<P, bits, quad>(words);
  planes.at[quad / (8 / lower)] |= (codes & ones(lower, 0x01010101u)) << (lower * (quad % (8 / lower)));
  if constexpr (upper > 0) {
    planes.at[lower + quad / (8 / upper)] |= ((codes >> lower) & ones(upper, 0x01010101u)) << (upper * (quad % (8 / upper)));
  }
}

template <class P, int bits, int... quads>
[[gnu::always_inline]] inline void add_all_to_planes(const StretchWords<P, bits>& words, StretchWords<P, bits>& planes,
                                                     std::integer_sequence<int, quads...> /*unrolled*/) {
  (add_to_planes<P, bits, quads>(words, planes), ...);
}

/// One row of a stretch: from the bit stream of the checkpoint to the row's words of the tile's vectors.
template <class P, int bits>
[[gnu::always_inline]] inline StretchWords<P, bits> to_planes(const StretchWords<P, bits>& words) {
  StretchWords<P, bits> planes = {};
  if constexpr (bits == 8) {
    planes = words;
  } else if constexpr (bits == 4) {  // the 8 codes of a word, 4 bits each: 01234567 to 01452367 to 04152637
#pragma GCC unroll 4
    for (int at = 0; at < bits; ++at) planes.at[at] = exchanged<P>(exchanged<P>(words.at[at], 0x0000ff00u, 8), 0x00f000f0u, 4);
  } else if constexpr (bits == 2) {  // the 16 codes of a word are a square of 4 x 4, which is transposed
#pragma GCC unroll 2
    for (int at = 0; at < bits; ++at) planes.at[at] = exchanged<P>(exchanged<P>(words.at[at], 0x0000f0f0u, 12), 0x00cc00ccu, 6);
  } else {
    add_all_to_planes<P, bits>(words, planes, std::make_integer_sequence<int, stretch_columns / quad_columns>{});
  }
  return planes;
}

/// Codes of one stretch of all rows, into the tile. @param words  [bits]
template <class P, int bits>
void write_stretch(const RowWords<P>* words, std::byte* out) {
  RowWords<P> planes[bits];
  for (int row = 0; row < tile_rows; ++row) {
    StretchWords<P, bits> codes;
#pragma GCC unroll 8
    for (int at = 0; at < bits; ++at) codes.at[at] = words[at].row[row];
    const StretchWords<P, bits> moved = to_planes<P, bits>(codes);
#pragma GCC unroll 8
    for (int at = 0; at < bits; ++at) planes[at].row[row] = moved.at[at];
  }
  __builtin_memcpy(out, planes, sizeof planes);
}

/// 4 words of each of 4 rows. @param words  of the first of the words
template <class P>
void gather_square(const std::byte* from, int64_t row_bytes, RowWords<P>* words, int64_t row) {
  using Four [[gnu::vector_size(16)]] = uint32_t;
  Four a, b, c, d;
  __builtin_memcpy(&a, from, 16);
  __builtin_memcpy(&b, from + row_bytes, 16);
  __builtin_memcpy(&c, from + 2 * row_bytes, 16);
  __builtin_memcpy(&d, from + 3 * row_bytes, 16);
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four ab_last = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_last = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four columns[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                           __builtin_shufflevector(ab_last, cd_last, 0, 1, 4, 5), __builtin_shufflevector(ab_last, cd_last, 2, 3, 6, 7)};
  for (int word = 0; word < 4; ++word) __builtin_memcpy(&words[word].row[row], &columns[word], 16);
}

/// `count` words of all rows, which are `row_bytes` apart.
template <class P>
void gather_words(const std::byte* from, int64_t row_bytes, int64_t rows, int64_t count, RowWords<P>* words) {
  const int64_t square_rows = rows / 4 * 4;
  const int64_t square_words = count / 4 * 4;
  for (int64_t row = 0; row < square_rows; row += 4) {
    for (int64_t at = 0; at < square_words; at += 4) gather_square<P>(from + row * row_bytes + at * 4, row_bytes, words + at, row);
  }
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t at = row < square_rows ? square_words : 0; at < count; ++at) {
      __builtin_memcpy(&words[at].row[row], from + row * row_bytes + at * 4, 4);
    }
  }
}

template <class P, int bits>
void pack_codes(const StoredRows& source, std::byte* tile) {
  const int64_t row_bytes = source.columns * bits / 8;
  const int64_t stretches = source.columns / stretch_columns;
  const int64_t per_group = source.format.group / stretch_columns;
  const int64_t group = group_bytes(source.format);
  RowWords<P> words[gathered_stretches * bits] = {};
  for (int64_t done = 0; done < stretches; done += gathered_stretches) {
    const int64_t left = stretches - done;
    const int64_t count = left < gathered_stretches ? left : gathered_stretches;
    gather_words<P>(source.values + done * bits * 4, row_bytes, source.rows, count * bits, words);
    for (int64_t at = 0; at < count; ++at) {
      const int64_t stretch = done + at;
      write_stretch<P, bits>(words + at * bits, tile + stretch / per_group * group + stretch % per_group * code_vector_bytes * bits);
    }
  }
}

/// Scales, or biases: [rows][groups] to the 16 of each group's end; those of absent rows are 0. @param out  of the first group
template <class P, int size>
void pack_parameters(const std::byte* from, int64_t rows, int64_t groups, int64_t stride, std::byte* out) {
  for (int64_t group = 0; group < groups; ++group) {
    std::byte* to = out + group * stride;
    for (int64_t row = 0; row < rows; ++row) __builtin_memcpy(to + row * size, from + (row * groups + group) * size, size);
    for (int64_t row = rows; row < tile_rows; ++row) __builtin_memset(to + row * size, 0, size);
  }
}

/// pack_tile for an affine format.
template <class P>
void pack_affine_tile(const StoredRows& source, std::byte* tile) {
  switch (source.format.bits) {
    case 2:
      pack_codes<P, 2>(source, tile);
      break;
    case 3:
      pack_codes<P, 3>(source, tile);
      break;
    case 4:
      pack_codes<P, 4>(source, tile);
      break;
    case 5:
      pack_codes<P, 5>(source, tile);
      break;
    case 6:
      pack_codes<P, 6>(source, tile);
      break;
    default:
      pack_codes<P, 8>(source, tile);
      break;
  }
  const int64_t groups = source.columns / source.format.group;
  const int64_t stride = group_bytes(source.format);
  const int size = bytes_of(source.format.element);
  const auto pack = size == 2 ? pack_parameters<P, 2> : pack_parameters<P, 4>;
  std::byte* out = tile + group_code_bytes(source.format);
  pack(source.scales, source.rows, groups, stride, out);
  pack(source.biases, source.rows, groups, stride, out + tile_rows * size);
}

/// KernelSet::pack_tile.
template <class P>
void pack_tile(const StoredRows& source, std::byte* tile) {
  if (source.format.kind == WeightFormat::Kind::affine) return pack_affine_tile<P>(source, tile);
  lagoon::pack_tile(source, tile);
}

}  // namespace lagoon::vector
