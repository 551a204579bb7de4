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
  int64_t next;  // bytes from the end of a stream to the tile that it goes on with; nowhere: it ends

  /// Memory that nobody will read is not asked for: what a stream has passed is there already.
  static constexpr int64_t nowhere = -P::prefetch_bytes;
};

/// How the activations and the tiles are cut.
struct GroupShape {
  int64_t count;        // groups in a row
  int group;            // columns
  int64_t bytes;        // of a tile's group
  ElementType element;  // of scales and biases
};

template <class P, int bits, int tiles, int quad>
[[gnu::always_inline]] inline void add_quad(const std::byte* const* at, const int16_t* q, typename P::Sum (*sums)[P::passes]) {
#pragma GCC unroll 4
  for (int tile = 0; tile < tiles; ++tile) {
    const QuadCodes<P> codes = codes_of_quad<P, bits, quad>(at[tile]);
    P::template add_quad<0>(sums[tile][0], codes.part, q + quad * quad_columns);
    if constexpr (P::passes == 2) P::template add_quad<1>(sums[tile][1], codes.part, q + quad * quad_columns);
  }
}

template <class P, int bits, int tiles, int... quads>
[[gnu::always_inline]] inline void add_stretch(const std::byte* const* at, const int16_t* q, typename P::Sum (*sums)[P::passes],
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
    typename P::Sum sums[tiles][P::passes] = {};
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
      typename P::Sum sum = sums[tile][0];
      if constexpr (P::passes == 2) sum = P::join(P::next_pass(sum), sums[tile][1]);
      total[tile] = fma(bias, x_sum, fma(P::to_lanes(sum), scale * x_scale, total[tile]));
      at[tile] += 2 * biases;
    }
  }
  for (int tile = 0; tile < tiles; ++tile) total[tile].store(y + tile * tile_rows);
}

/// P::streams tiles, 2, or 1: how many are read next where `left` are left.
template <class P>
int next_streams(int64_t left) {
  if (left >= P::streams) return P::streams;
  return left < 2 ? 1 : 2;
}

template <class P, int bits>
void multiply_some_streams(int tiles, const Streams<P>& streams, const TokenRow<P>& x, const GroupShape& shape, float* y) {
  if (tiles == P::streams) return multiply_streams<P, bits, P::streams>(streams, x, shape, y);
  if (tiles == 2) return multiply_streams<P, bits, 2>(streams, x, shape, y);
  multiply_streams<P, bits, 1>(streams, x, shape, y);
}

template <class P>
void multiply_tiles(const WeightFormat& format, int tiles, const Streams<P>& streams, const FixedRows& x, int64_t row, float* y) {
  const GroupShape shape = {x.columns / x.group, format.group, group_bytes(format), format.element};
  const TokenRow<P> token = token_row<P>(x, row);
  switch (format.bits) {
    case 2:
      return multiply_some_streams<P, 2>(tiles, streams, token, shape, y);
    case 3:
      return multiply_some_streams<P, 3>(tiles, streams, token, shape, y);
    case 4:
      return multiply_some_streams<P, 4>(tiles, streams, token, shape, y);
    case 5:
      return multiply_some_streams<P, 5>(tiles, streams, token, shape, y);
    case 6:
      return multiply_some_streams<P, 6>(tiles, streams, token, shape, y);
    default:
      return multiply_some_streams<P, 8>(tiles, streams, token, shape, y);
  }
}

/// KernelSet::multiply_fixed for one row. @param y  of the matrix's row 0
template <class P>
void multiply_one_token(const WeightMatrix& matrix, TileRange range, const FixedRows& x, int64_t row, float* y) {
  alignas(64) float products[P::streams * tile_rows];
  for (int64_t tile = range.begin; tile < range.end;) {
    const int tiles = next_streams<P>(range.end - tile);
    Streams<P> streams = {};
    for (int i = 0; i < tiles; ++i) streams.tile[i] = matrix.tiles + (tile + i) * matrix.tile_stride;
    streams.next = tile + tiles < range.end ? (tiles - 1) * matrix.tile_stride : Streams<P>::nowhere;
    multiply_tiles<P>(matrix.format, tiles, streams, x, row, products);
    const int64_t rows = (tiles - 1) * tile_rows + rows_of_tile<P>(matrix, tile + tiles - 1);
    __builtin_memcpy(y + tile * tile_rows, products, static_cast<size_t>(rows) * sizeof(float));
    tile += tiles;
  }
}

/// KernelSet::gate_up_row: a gate tile, its up tile, and so on.
template <class P>
void gate_up_row(const WeightMatrix& gate, const WeightMatrix& up, TileRange range, const FixedRows& x, int64_t row, float* y) {
  using Lanes = typename P::Lanes;
  alignas(64) float products[P::streams * tile_rows];
  for (int64_t tile = range.begin; tile < range.end;) {
    const int pairs = next_streams<P>(2 * (range.end - tile)) / 2;
    Streams<P> streams = {};
    for (int i = 0; i < pairs; ++i) {
      streams.tile[2 * i] = gate.tiles + (tile + i) * gate.tile_stride;
      streams.tile[2 * i + 1] = up.tiles + (tile + i) * up.tile_stride;
    }
    // Where gate and up tiles alternate.
    streams.next = tile + pairs < range.end ? (2 * pairs - 1) * gate.tile_stride / 2 : Streams<P>::nowhere;
    multiply_tiles<P>(gate.format, 2 * pairs, streams, x, row, products);
    for (int i = 0; i < pairs; ++i) {
      float* joined = products + 2 * i * tile_rows;
      (silu(Lanes::load(joined)) * Lanes::load(joined + tile_rows)).store(joined);
      __builtin_memcpy(y + (tile + i) * tile_rows, joined, static_cast<size_t>(rows_of_tile<P>(gate, tile + i)) * sizeof(float));
    }
    tile += pairs;
  }
}

}  // namespace lagoon::vector
