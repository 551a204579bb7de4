// float_products.h: products with plain weights (bf16, f16, f32 in tiles, tile_layout.h) and activations as floats, in the
// canonical order: each output has its 16 lanes, column k enters lane k % 16 by fused multiply-add, columns ascending.
#pragma once

#include "kernels/rows.h"
#include "kernels/scalar/scalar.h"
#include "kernels/tile_layout.h"
#include "kernels/vector/parts.h"

#include <cstdint>

namespace lagoon::vector {

/// Tokens whose lanes wait on the stack, and the columns of a tile that are turned to floats for all of them at once: so few
/// that they stay in the first-level cache. Weights are fetched as far ahead.
constexpr int product_tokens = 48;
constexpr int product_columns = 256;

/// Adds, to rows [0, rows) x tokens [0, tokens) of lanes, the products of `chunks` whole chunks of 16 columns.
/// @param weights  [chunks][tile_rows][16], from the first row on;  @param x  the tokens' rows, from the first column on
/// @param sums     [tokens][tile_rows], from the first row and token on
template <int rows, int tokens, class Lanes>
void add_block(const float* weights, int chunks, const float* const* x, Lanes* sums) {
  Lanes block[tokens * rows];
  const float* row[tokens];
#pragma GCC unroll 32
  for (int i = 0; i < tokens * rows; ++i) block[i] = sums[i / rows * tile_rows + i % rows];
  for (int i = 0; i < tokens; ++i) row[i] = x[i];
  for (int64_t at = 0; at < int64_t{chunks} * lanes; at += lanes) {
    Lanes weight[rows];
    for (int r = 0; r < rows; ++r) weight[r] = Lanes::load(weights + at * tile_rows + r * lanes);
    for (int i = 0; i < tokens; ++i) {
      const Lanes value = Lanes::load(row[i] + at);
      for (int r = 0; r < rows; ++r) block[i * rows + r] = fma(weight[r], value, block[i * rows + r]);
    }
  }
#pragma GCC unroll 32
  for (int i = 0; i < tokens * rows; ++i) sums[i / rows * tile_rows + i % rows] = block[i];
}

/// add_block for however many tokens are left, at most `tokens`.
template <int rows, int tokens, class Lanes>
void add_block_of(int count, const float* weights, int chunks, const float* const* x, Lanes* sums) {
  if constexpr (tokens > 1) {
    if (count < tokens) return add_block_of<rows, tokens - 1>(count, weights, chunks, x, sums);
  }
  add_block<rows, tokens>(weights, chunks, x, sums);
}

/// The last columns, fewer than 16. Lanes beyond them stay as they are: adding 0 would turn -0 into 0.
template <class Lanes>
void add_last_columns(const float* weights, int columns, int count, const float* const* x, Lanes* sums) {
  const auto mask = Lanes::range(0, columns);
  for (int i = 0; i < count; ++i) {
    const Lanes value = Lanes::load(x[i], First{columns});
    for (int r = 0; r < tile_rows; ++r) {
      Lanes& sum = sums[i * tile_rows + r];
      sum = select(mask, fma(Lanes::load(weights + r * lanes), value, sum), sum);
    }
  }
}

/// One row of x times one tile. Its weights are turned to floats in registers and read once, in order.
template <class Lanes, ElementType type>
void multiply_row(const std::byte* tile, int64_t columns, const float* x, Lanes* sums) {
  constexpr int64_t line = int64_t{lanes} * bytes_of(type);
  const int64_t stretch = Lanes::row_tile == tile_rows ? columns : product_columns;  // where registers hold all rows, in one go
  for (int r = 0; r < tile_rows; ++r) sums[r] = Lanes::zero();
  for (int64_t begin = 0; begin < columns; begin += stretch) {
    const int64_t end = begin + stretch < columns ? begin + stretch : columns;
    for (int first = 0; first < tile_rows; first += Lanes::row_tile) {
      Lanes part[Lanes::row_tile];
#pragma GCC unroll 16
      for (int r = 0; r < Lanes::row_tile; ++r) part[r] = sums[first + r];
      const std::byte* from = tile + (begin * tile_rows / lanes + first) * line;
      int64_t at = begin;
      for (; at + lanes <= end; at += lanes, from += tile_rows * line) {
        const Lanes value = Lanes::load(x + at);
        for (int64_t ahead = 0; ahead < Lanes::row_tile * line; ahead += 64) __builtin_prefetch(from + product_columns * line + ahead);
        for (int r = 0; r < Lanes::row_tile; ++r) part[r] = fma(Lanes::template load_elements<type>(from + r * line), value, part[r]);
      }
      if (at < end) {
        const First rest{static_cast<int>(end - at)};
        const auto mask = Lanes::range(0, rest.count);
        const Lanes value = Lanes::load(x + at, rest);
        for (int r = 0; r < Lanes::row_tile; ++r)
          part[r] = select(mask, fma(Lanes::template load_elements<type>(from + r * line), value, part[r]), part[r]);
      }
#pragma GCC unroll 16
      for (int r = 0; r < Lanes::row_tile; ++r) sums[first + r] = part[r];
    }
  }
}

/// Up to product_tokens rows of x times one tile. @param x  the rows; @param sums  [count][tile_rows]
template <class Lanes, ElementType type>
void multiply_rows(const std::byte* tile, int64_t columns, const float* const* x, int count, Lanes* sums) {
  constexpr int64_t line = int64_t{lanes} * bytes_of(type);
  alignas(64) float weights[product_columns * tile_rows];
  const float* here[product_tokens];
  for (int i = 0; i < count * tile_rows; ++i) sums[i] = Lanes::zero();
  for (int64_t begin = 0; begin < columns; begin += product_columns) {
    const int width = static_cast<int>(columns - begin < product_columns ? columns - begin : product_columns);
    const int chunks = width / lanes;
    const int lines = (width + lanes - 1) / lanes * tile_rows;
    const std::byte* from = tile + begin * tile_rows / lanes * line;
    for (int i = 0; i < lines; ++i) {
      Lanes::template load_elements<type>(from + i * line).store(weights + i * lanes);
      __builtin_prefetch(from + (product_columns + i) * line);
    }
    for (int i = 0; i < count; ++i) here[i] = x[i] + begin;
    for (int i = 0; i < count; i += Lanes::block_tokens) {
      const int tokens = count - i < Lanes::block_tokens ? count - i : Lanes::block_tokens;
      for (int r = 0; r < tile_rows; r += Lanes::block_rows)
        add_block_of<Lanes::block_rows, Lanes::block_tokens>(tokens, weights + r * lanes, chunks, here + i, sums + i * tile_rows + r);
    }
    if (width % lanes == 0) continue;
    for (int i = 0; i < count; ++i) here[i] += chunks * lanes;
    add_last_columns(weights + chunks * tile_rows * lanes, width % lanes, count, here, sums);
  }
}

template <class Lanes, ElementType type>
void multiply_plain(const WeightMatrix& matrix, TileRange tiles, const FloatRows& x, RowSelection selection, const OutputRows& y) {
  const auto sum = [](Lanes a, Lanes b) { return a + b; };
  Lanes sums[product_tokens * tile_rows];
  const float* rows[product_tokens];
  for (int64_t done = 0; done < selection.count; done += product_tokens) {
    const int count = static_cast<int>(selection.count - done < product_tokens ? selection.count - done : product_tokens);
    for (int i = 0; i < count; ++i) rows[i] = x.row(selection[done + i]);
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      const int64_t left = matrix.rows - tile * tile_rows;
      const First part{static_cast<int>(left < tile_rows ? left : tile_rows)};
      if (count == 1) {
        multiply_row<Lanes, type>(matrix.tile(tile), matrix.columns, rows[0], sums);
      } else {
        multiply_rows<Lanes, type>(matrix.tile(tile), matrix.columns, rows, count, sums);
      }
      for (int i = 0; i < count; ++i) Lanes::reduce_rows(sums + i * tile_rows, sum).store(y.row(done + i) + tile * tile_rows, part);
    }
  }
}

template <class Lanes, ElementType type>
void read_plain_row(const WeightMatrix& matrix, int64_t row, float* out) {
  const std::byte* from = matrix.tile(row / tile_rows) + row % tile_rows * lanes * bytes_of(type);
  over(matrix.columns,
       [&](int64_t at, auto part) { Lanes::template load_elements<type>(from + at * tile_rows * bytes_of(type)).store(out + at, part); });
}

template <class Lanes>
void read_row(const WeightMatrix& matrix, int64_t row, float* out) {
  if (matrix.affine()) return scalar::read_row(matrix, row, out);
  switch (matrix.format.element) {
    case ElementType::f32:
      return read_plain_row<Lanes, ElementType::f32>(matrix, row, out);
    case ElementType::f16:
      return read_plain_row<Lanes, ElementType::f16>(matrix, row, out);
    case ElementType::bf16:
      return read_plain_row<Lanes, ElementType::bf16>(matrix, row, out);
  }
}

template <class Lanes>
void multiply_float(const WeightMatrix& matrix, TileRange tiles, const FloatRows& x, RowSelection selection, const OutputRows& y) {
  if (matrix.affine()) return scalar::multiply_float(matrix, tiles, x, selection, y);
  switch (matrix.format.element) {
    case ElementType::f32:
      return multiply_plain<Lanes, ElementType::f32>(matrix, tiles, x, selection, y);
    case ElementType::f16:
      return multiply_plain<Lanes, ElementType::f16>(matrix, tiles, x, selection, y);
    case ElementType::bf16:
      return multiply_plain<Lanes, ElementType::bf16>(matrix, tiles, x, selection, y);
  }
}

}  // namespace lagoon::vector
