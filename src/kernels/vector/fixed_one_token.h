// fixed_one_token.h: products with one token's row. They are bound by memory, so several tiles are read at once: that many
// requests are under way. A template for the reason given in fixed_codes.h.
#pragma once

#include "kernels/vector/elementwise.h"
#include "kernels/vector/fixed_codes.h"

namespace lagoon::vector {

/// Tiles that are read side by side.
template <class P>
struct Streams {
  const std::byte* tile[P::streams];
  int64_t next;  // bytes from the end of a stream to the tile that it goes on with
};

/// How the activations and the tiles are cut.
struct GroupShape {
  int64_t count;        // groups in a row
  int group;            // columns
  int64_t bytes;        // of a tile's group
  ElementType element;  // of scales and biases
};

template <class P, int bits, int tiles, int quad>
[[gnu::always_inline]] inline void add_quad(const std::byte* const* at, const int16_t* q, typename P::Sums* sums) {
  const auto first = P::broadcast_pair(q + quad * quad_columns);
  const auto second = P::broadcast_pair(q + quad * quad_columns + 2);
#pragma GCC unroll 4
  for (int tile = 0; tile < tiles; ++tile) P::multiply_add(sums[tile], codes_of_quad<P, bits, quad>(at[tile]).part, first, second);
}

template <class P, int bits, int tiles, int... quads>
[[gnu::always_inline]] inline void add_stretch(const std::byte* const* at, const int16_t* q, typename P::Sums* sums,
                                               std::integer_sequence<int, quads...> /*unrolled*/) {
  (add_quad<P, bits, tiles, quads>(at, q, sums), ...);
}

/// @param y  [tiles][16]
template <class P, int bits, int tiles>
void multiply_streams(const Streams<P>& streams, const TokenRow<P>& x, const GroupShape& shape, float* y) {
  const std::byte* at[tiles];
  using Lanes = typename P::Lanes;
  Lanes total[tiles];
  for (int tile = 0; tile < tiles; ++tile) {
    at[tile] = streams.tile[tile];
    total[tile] = Lanes::zero();
  }
  const int16_t* q = x.q;
  const int64_t ahead = P::prefetch_bytes;
  const int64_t near_end = shape.count - ahead / shape.bytes;
  for (int64_t group = 0; group < shape.count; ++group) {
    const int64_t distance = group < near_end ? ahead : ahead + streams.next;
    typename P::Sums sums[tiles] = {};
    for (int column = 0; column < shape.group; column += stretch_columns, q += stretch_columns) {
#pragma GCC unroll 4
      for (int tile = 0; tile < tiles; ++tile) prefetch_lines<P, bits>(at[tile] + distance);
      add_stretch<P, bits, tiles>(at, q, sums, Quads{});
#pragma GCC unroll 4
      for (int tile = 0; tile < tiles; ++tile) at[tile] += bits * code_vector_bytes;
    }
    const auto x_scale = Lanes::all(x.scale[group]);
    const auto x_sum = Lanes::all(x.sum[group]);
    const int64_t biases = tile_rows * bytes_of(shape.element);
#pragma GCC unroll 4
    for (int tile = 0; tile < tiles; ++tile) {
      prefetch_lines<P, 1>(at[tile] + distance);
      const auto scale = load_parameters<P>(at[tile], shape.element);
      const auto bias = load_parameters<P>(at[tile] + biases, shape.element);
      total[tile] = fma(bias, x_sum, fma(P::totals(sums[tile]), scale * x_scale, total[tile]));
      at[tile] += 2 * biases;
    }
  }
  for (int tile = 0; tile < tiles; ++tile) total[tile].store(y + tile * tile_rows);
}

/// Any number of tiles up to P::streams.
template <class P, int bits>
void multiply_some_streams(int tiles, const Streams<P>& streams, const TokenRow<P>& x, const GroupShape& shape, float* y) {
  if constexpr (P::streams == 4) {
    if (tiles == 4) return multiply_streams<P, bits, 4>(streams, x, shape, y);
    if (tiles == 3) return multiply_streams<P, bits, 3>(streams, x, shape, y);
  }
  if (tiles == 2) return multiply_streams<P, bits, 2>(streams, x, shape, y);
  multiply_streams<P, bits, 1>(streams, x, shape, y);
}

template <class P>
void multiply_tiles(const WeightFormat& format, int tiles, const Streams<P>& streams, const FixedRows& x, int64_t row, float* y) {
  const GroupShape shape = {x.columns / x.group, format.group, group_bytes(format), format.element};
  const TokenRow<P> token = token_row<P>(x, row);
  switch (format.bits) {
    case 2: return multiply_some_streams<P, 2>(tiles, streams, token, shape, y);
    case 3: return multiply_some_streams<P, 3>(tiles, streams, token, shape, y);
    case 4: return multiply_some_streams<P, 4>(tiles, streams, token, shape, y);
    case 5: return multiply_some_streams<P, 5>(tiles, streams, token, shape, y);
    case 6: return multiply_some_streams<P, 6>(tiles, streams, token, shape, y);
    default: return multiply_some_streams<P, 8>(tiles, streams, token, shape, y);
  }
}

/// KernelSet::multiply_fixed for one row. @param y  of the matrix's row 0
template <class P>
void multiply_one_token(const WeightMatrix& matrix, TileRange range, const FixedRows& x, int64_t row, float* y) {
  alignas(64) float products[P::streams * tile_rows];
  for (int64_t tile = range.begin; tile < range.end; tile += P::streams) {
    const int64_t left = range.end - tile;
    const int tiles = left < P::streams ? static_cast<int>(left) : P::streams;
    Streams<P> streams = {};
    for (int i = 0; i < tiles; ++i) streams.tile[i] = matrix.tiles + (tile + i) * matrix.tile_stride;
    streams.next = (tiles - 1) * matrix.tile_stride;
    multiply_tiles<P>(matrix.format, tiles, streams, x, row, products);
    const int64_t rows = (tiles - 1) * tile_rows + rows_of_tile<P>(matrix, tile + tiles - 1);
    __builtin_memcpy(y + tile * tile_rows, products, static_cast<size_t>(rows) * sizeof(float));
  }
}

/// KernelSet::gate_up_row: a gate tile, its up tile, and so on.
template <class P>
void gate_up_row(const WeightMatrix& gate, const WeightMatrix& up, TileRange range, const FixedRows& x, int64_t row, float* y) {
  using Lanes = typename P::Lanes;
  constexpr int pairs_at_once = P::streams / 2;
  alignas(64) float products[P::streams * tile_rows];
  for (int64_t tile = range.begin; tile < range.end; tile += pairs_at_once) {
    const int64_t left = range.end - tile;
    const int pairs = left < pairs_at_once ? static_cast<int>(left) : pairs_at_once;
    Streams<P> streams = {};
    for (int i = 0; i < pairs; ++i) {
      streams.tile[2 * i] = gate.tiles + (tile + i) * gate.tile_stride;
      streams.tile[2 * i + 1] = up.tiles + (tile + i) * up.tile_stride;
    }
    streams.next = pairs * gate.tile_stride - (up.tiles - gate.tiles);
    multiply_tiles<P>(gate.format, 2 * pairs, streams, x, row, products);
    for (int i = 0; i < pairs; ++i) {
      float* joined = products + 2 * i * tile_rows;
      (silu(Lanes::load(joined)) * Lanes::load(joined + tile_rows)).store(joined);
      __builtin_memcpy(y + (tile + i) * tile_rows, joined, static_cast<size_t>(rows_of_tile<P>(gate, tile + i)) * sizeof(float));
    }
  }
}

}  // namespace lagoon::vector
