// fixed_many_tokens.h: products with many token rows. The codes of two tiles are unpacked once for a chunk of tokens and then
// multiplied with blocks of them whose sums stay in registers. A template for the reason given in fixed_codes.h.
#pragma once

#include "kernels/vector/fixed_one_token.h"

namespace lagoon::vector {

/// Tokens that share one unpacking: their rows of up to some thousand columns stay in the second cache, their results in the first.
constexpr int chunk_tokens = 48;
constexpr int pair_tiles = 2;
constexpr int pair_rows = pair_tiles * tile_rows;
constexpr int largest_group_quads = 128 / quad_columns;

/// One group of two tiles, unpacked.
template <class P>
struct UnpackedGroup {
  alignas(64) std::byte codes[pair_tiles][largest_group_quads][P::parts][code_vector_bytes];
  alignas(64) float scale[pair_tiles][tile_rows];
  alignas(64) float bias[pair_tiles][tile_rows];
};

template <class P>
struct Chunk {
  TokenRow<P> rows[chunk_tokens];
  int64_t count;
  alignas(64) float y[chunk_tokens][pair_rows];
};

template <class P, int bits, int... quads>
[[gnu::always_inline]] inline void unpack_quads(const std::byte* stretch, std::byte (*out)[P::parts][code_vector_bytes],
                                                std::integer_sequence<int, quads...> /*unrolled*/) {
  const QuadCodes<P> codes[] = {codes_of_quad<P, bits, quads>(stretch)...};
#pragma GCC unroll 8
  for (int quad = 0; quad < stretch_quads; ++quad) {
#pragma GCC unroll 2
    for (int part = 0; part < P::parts; ++part) P::store_bytes(out[quad][part], codes[quad].part[part]);
  }
}

template <class P, int bits>
void unpack_group(const std::byte* at, const GroupShape& shape, int tile, UnpackedGroup<P>& out) {
  for (int column = 0; column < shape.group; column += stretch_columns) {
    unpack_quads<P, bits>(at, out.codes[tile] + column / quad_columns, Quads{});
    at += bits * code_vector_bytes;
  }
  load_parameters<P>(at, shape.element).store(out.scale[tile]);
  load_parameters<P>(at + tile_rows * bytes_of(shape.element), shape.element).store(out.bias[tile]);
}

/// Memory that later groups need, asked for line by line between the products of this one: asked for all at once, the requests
/// would fill the processor's queue and hold the products up.
template <class P>
struct LinesAhead {
  const std::byte* at[pair_tiles];
  int64_t each_step;  // bytes of each tile

  /// Once for every four quads of a pass.
  [[gnu::always_inline]] void step() {
    for (int64_t line = 0; line < each_step; line += code_vector_bytes) {
#pragma GCC unroll 2
      for (int tile = 0; tile < pair_tiles; ++tile) __builtin_prefetch(at[tile] + line);
    }
    for (const std::byte*& next : at) next += each_step;
  }
};

/// A block's exact sums in progress. Where they are few, even and odd quads go to different ones, so that no addition waits for
/// the one before it.
template <class P, int tiles, int tokens>
struct BlockSums {
  static constexpr int parallel = tokens * tiles < 8 ? 2 : 1;
  typename P::Sum at[parallel][tokens][tiles];
};

/// One quad of some tokens and tiles. @param q  where the group begins in each token's row
template <class P, int pass, int tiles, int tokens>
[[gnu::always_inline]] inline void add_quad_of_block(const std::byte (*const* codes)[P::parts][code_vector_bytes], const int16_t* const* q, int quad,
                                                     typename P::Sum (*sums)[tiles]) {
  QuadCodes<P> quad_codes[tiles];
#pragma GCC unroll 2
  for (int tile = 0; tile < tiles; ++tile) {
#pragma GCC unroll 2
    for (int part = 0; part < P::parts; ++part) quad_codes[tile].part[part] = P::load_bytes(codes[tile][quad][part]);
  }
#pragma GCC unroll 16
  for (int token = 0; token < tokens; ++token) {
#pragma GCC unroll 2
    for (int tile = 0; tile < tiles; ++tile) P::template add_quad<pass>(sums[token][tile], quad_codes[tile].part, q[token] + quad * quad_columns);
  }
}

template <class P, int pass, int tiles, int tokens>
[[gnu::always_inline]] inline void add_pass(const std::byte (*const* codes)[P::parts][code_vector_bytes], const int16_t* const* q, int quads,
                                            BlockSums<P, tiles, tokens>& sums, LinesAhead<P>& ahead) {
  constexpr int unrolled = 4;
  int quad = 0;
  do {
    ahead.step();
#pragma GCC unroll 4
    for (int i = 0; i < unrolled; ++i) add_quad_of_block<P, pass, tiles, tokens>(codes, q, quad + i, sums.at[i % sums.parallel]);
    quad += unrolled;
  } while (quad < quads);
}

/// Some tokens against tiles [tile, tile + tiles) of the pair. @param y  the first token's
template <class P, int tiles, int tokens>
[[gnu::always_inline]] inline void multiply_block(const UnpackedGroup<P>& unpacked, int tile, const GroupShape& shape, int64_t group,
                                                  const TokenRow<P>* rows, float (*y)[pair_rows], LinesAhead<P>& ahead) {
  using Lanes = typename P::Lanes;
  BlockSums<P, tiles, tokens> sums = {};
  const int16_t* q[tokens];
  const std::byte(*codes[tiles])[P::parts][code_vector_bytes];
#pragma GCC unroll 16
  for (int token = 0; token < tokens; ++token) q[token] = rows[token].q + group * shape.group;
#pragma GCC unroll 2
  for (int i = 0; i < tiles; ++i) codes[i] = unpacked.codes[tile + i];
  const int quads = shape.group / quad_columns;
  add_pass<P, 0, tiles, tokens>(codes, q, quads, sums, ahead);
  if constexpr (P::passes == 2) {
    for (auto& parallel : sums.at) {
#pragma GCC unroll 16
      for (auto& token : parallel) {
#pragma GCC unroll 2
        for (auto& sum : token) sum = P::next_pass(sum);
      }
    }
    add_pass<P, 1, tiles, tokens>(codes, q, quads, sums, ahead);
  }
#pragma GCC unroll 2
  for (int i = 0; i < tiles; ++i) {
    const auto scale = Lanes::load(unpacked.scale[tile + i]);
    const auto bias = Lanes::load(unpacked.bias[tile + i]);
#pragma GCC unroll 16
    for (int token = 0; token < tokens; ++token) {
      auto sum = sums.at[0][token][i];
      if constexpr (sums.parallel == 2) sum = P::join(sum, sums.at[1][token][i]);
      float* out = y[token] + (tile + i) * tile_rows;
      const auto x_scale = Lanes::all(rows[token].scale[group]);
      const auto x_sum = Lanes::all(rows[token].sum[group]);
      fma(bias, x_sum, fma(P::to_lanes(sum), scale * x_scale, Lanes::load(out))).store(out);
    }
  }
}

template <class P, int tokens>
void multiply_tokens(const UnpackedGroup<P>& codes, int tiles, const GroupShape& shape, int64_t group, const TokenRow<P>* rows, float (*y)[pair_rows],
                     LinesAhead<P>& ahead) {
  if constexpr (P::tiles_at_once == pair_tiles) {
    if (tiles == pair_tiles) return multiply_block<P, pair_tiles, tokens>(codes, 0, shape, group, rows, y, ahead);
  }
  for (int tile = 0; tile < tiles; ++tile) multiply_block<P, 1, tokens>(codes, tile, shape, group, rows, y, ahead);
}

template <class P>
using MultiplyTokens = void (*)(const UnpackedGroup<P>&, int, const GroupShape&, int64_t, const TokenRow<P>*, float (*)[pair_rows], LinesAhead<P>&);

/// All tokens of a chunk, in blocks as equal as they can be.
template <class P, int... sizes>
void multiply_chunk(const UnpackedGroup<P>& codes, int tiles, const GroupShape& shape, int64_t group, Chunk<P>& chunk, LinesAhead<P> ahead,
                    std::integer_sequence<int, sizes...> /*less one*/) {
  constexpr MultiplyTokens<P> of_size[] = {multiply_tokens<P, sizes + 1>...};
  int64_t blocks = (chunk.count + P::tokens_at_once - 1) / P::tokens_at_once;
  for (int64_t done = 0; done < chunk.count; --blocks) {
    const int64_t tokens = (chunk.count - done + blocks - 1) / blocks;
    of_size[tokens - 1](codes, tiles, shape, group, chunk.rows + done, chunk.y + done, ahead);
    ahead.each_step = 0;  // the first block has asked for all of them
    done += tokens;
  }
}

/// One or two tiles times a chunk, to chunk.y.
template <class P, int bits>
void multiply_pair(const std::byte* first, int64_t stride, int tiles, const GroupShape& shape, Chunk<P>& chunk) {
  UnpackedGroup<P> codes;
  const int64_t steps = shape.group / quad_columns / 4 * P::passes;
  const int64_t lines = (shape.bytes / code_vector_bytes + steps - 1) / steps;
  const int64_t each_step = lines * code_vector_bytes;
  for (int64_t token = 0; token < chunk.count; ++token) {
    for (int row = 0; row < pair_rows; ++row) chunk.y[token][row] = 0.0f;
  }
  for (int64_t group = 0; group < shape.count; ++group) {
    for (int tile = 0; tile < tiles; ++tile) unpack_group<P, bits>(first + tile * stride + group * shape.bytes, shape, tile, codes);
    // Beyond the end of a tile the stream goes on with the next pair.
    const int64_t jump = (group + 1) * shape.bytes + P::prefetch_bytes > shape.count * shape.bytes ? (tiles - 1) * stride : 0;
    const std::byte* later = first + group * shape.bytes + P::prefetch_bytes + jump;
    const LinesAhead<P> ahead = {{later, later + stride}, each_step};
    multiply_chunk<P>(codes, tiles, shape, group, chunk, ahead, std::make_integer_sequence<int, P::tokens_at_once>{});
  }
}

template <class P>
using MultiplyPair = void (*)(const std::byte*, int64_t, int, const GroupShape&, Chunk<P>&);

template <class P>
MultiplyPair<P> pair_multiplier(int bits) {
  switch (bits) {
    case 2:
      return multiply_pair<P, 2>;
    case 3:
      return multiply_pair<P, 3>;
    case 4:
      return multiply_pair<P, 4>;
    case 5:
      return multiply_pair<P, 5>;
    case 6:
      return multiply_pair<P, 6>;
    default:
      return multiply_pair<P, 8>;
  }
}

/// KernelSet::multiply_fixed.
template <class P>
void multiply_fixed(const WeightMatrix& matrix, TileRange range, const FixedRows& x, RowSelection selection, const OutputRows& y) {
  const auto selected = [&](int64_t at) { return selection.index ? selection.index[at] : at; };
  if (selection.count == 1) return multiply_one_token<P>(matrix, range, x, selected(0), y.data);
  const WeightFormat& format = matrix.format;
  const GroupShape shape = {x.columns / x.group, format.group, group_bytes(format), format.element};
  const MultiplyPair<P> multiply_pair = pair_multiplier<P>(format.bits);
  Chunk<P> chunk;
  for (int64_t done = 0; done < selection.count; done += chunk.count) {
    const int64_t left = selection.count - done;
    chunk.count = left < chunk_tokens ? left : chunk_tokens;
    for (int64_t i = 0; i < chunk.count; ++i) chunk.rows[i] = token_row<P>(x, selected(done + i));
    for (int64_t tile = range.begin; tile < range.end; tile += pair_tiles) {
      const int tiles = range.end - tile < pair_tiles ? 1 : pair_tiles;
      multiply_pair(matrix.tiles + tile * matrix.tile_stride, matrix.tile_stride, tiles, shape, chunk);
      const int64_t rows = (tiles - 1) * tile_rows + rows_of_tile<P>(matrix, tile + tiles - 1);
      for (int64_t i = 0; i < chunk.count; ++i) {
        __builtin_memcpy(y.data + (done + i) * y.stride + tile * tile_rows, chunk.y[i], static_cast<size_t>(rows) * sizeof(float));
      }
    }
  }
}

}  // namespace lagoon::vector
