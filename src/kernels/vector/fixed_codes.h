// fixed_codes.h: codes out of a tile (tile_layout.h) as products in fixed point take them, and where a token's row of
// activations stands. The `fixed_*.h` files are templates over a type P that stands in an anonymous namespace of the unit that
// includes them, so that nothing compiled for one instruction set can be linked into another. P has
//   Bytes    a vector of codes: 64 bytes of a tile, 4 columns of 16 rows
//   parts    how many vectors hold a quad's codes when products take them: 1 where they multiply bytes, 2 (columns 0 and 2, then
//            columns 1 and 3) where they multiply 16 bits
//   Sum      16 exact sums in progress; add_quad<pass>(sum, codes[parts], q) adds 4 columns. With passes = 2 pass 0 multiplies the
//            high bytes of q, next_pass(sum) lifts what they gave and pass 1 adds the low bytes; join(a, b) is a + b
//   Lanes    16 floats (lanes.h of the set); to_lanes(sum) gives the sums as such
//   streams  tiles read at once for one token; tiles_at_once, tokens_at_once  a block of many tokens that fits the registers;
//   prefetch_bytes  how far ahead of itself a stream asks for memory
#pragma once

#include "kernels/tile_layout.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace lagoon::vector {

constexpr int stretch_quads = stretch_columns / quad_columns;

/// 0 to stretch_quads - 1, for loops that must be unrolled because a shift's distance is part of its instruction.
using Quads = std::make_integer_sequence<int, stretch_quads>;

/// The codes of one quad of a stretch, or with parts = 2 the columns `part` and `part` + 2 of it.
template <class P, int bits, int quad, int part>
[[gnu::always_inline]] inline typename P::Bytes quad_codes(const std::byte* stretch) {
  constexpr int lower = lower_plane_bits(bits);
  constexpr int upper = bits - lower;
  constexpr int per_vector = 8 / lower;
  constexpr int shift = lower * (quad % per_vector) + 8 * part;
  const auto low = P::template shift_right<shift>(P::load_bytes(stretch + quad / per_vector * code_vector_bytes));
  if constexpr (upper == 0) {
    // The uppermost bits of what products take for one number need no mask: zeros were shifted in above them.
    constexpr bool alone = P::parts == 1 ? bits == 8 : shift + bits == 16;
    if constexpr (alone) {
      return low;
    } else {
      return P::both(low, P::mask((1 << bits) - 1));
    }
  } else {
    constexpr int upper_per_vector = 8 / upper;
    constexpr int upper_shift = upper * (quad % upper_per_vector) + 8 * part - lower;
    const std::byte* plane = stretch + lower * code_vector_bytes;
    const auto high = P::template shift_right<upper_shift>(P::load_bytes(plane + quad / upper_per_vector * code_vector_bytes));
    return P::with_bits(P::both(low, P::mask((1 << lower) - 1)), high, P::mask(((1 << upper) - 1) << lower));
  }
}

/// All parts of a quad's codes.
template <class P>
struct QuadCodes {
  typename P::Bytes part[P::parts];
};

template <class P, int bits, int quad>
[[gnu::always_inline]] inline QuadCodes<P> codes_of_quad(const std::byte* stretch) {
  if constexpr (P::parts == 1) {
    return {{quad_codes<P, bits, quad, 0>(stretch)}};
  } else {
    return {{quad_codes<P, bits, quad, 0>(stretch), quad_codes<P, bits, quad, 1>(stretch)}};
  }
}

/// One row of FixedRows.
template <class P>
struct TokenRow {
  const int16_t* q;    // [columns]
  const float* scale;  // [groups]
  const float* sum;    // [groups]
};

template <class P>
TokenRow<P> token_row(const FixedRows& x, int64_t row) {
  const int64_t groups = x.columns / x.group;
  return {x.q + row * x.columns, x.scale + row * groups, x.sum + row * groups};
}

/// Rows of a tile that belong to the matrix.
template <class P>
int64_t rows_of_tile(const WeightMatrix& matrix, int64_t tile) {
  const int64_t left = matrix.rows - tile * tile_rows;
  return left < tile_rows ? left : tile_rows;
}

/// 16 numbers as floats. Every published checkpoint has bf16 here.
template <class P>
[[gnu::always_inline]] inline typename P::Lanes load_parameters(const std::byte* from, ElementType element) {
  using Lanes = typename P::Lanes;
  if (element == ElementType::bf16) [[likely]]
    return Lanes::template load_elements<ElementType::bf16>(from);
  if (element == ElementType::f16) return Lanes::template load_elements<ElementType::f16>(from);
  return Lanes::template load_elements<ElementType::f32>(from);
}

/// Asks for the cache lines that a stream of codes reaches later; reading past its end is harmless.
template <class P, int lines>
[[gnu::always_inline]] inline void prefetch_lines(const std::byte* at) {
#pragma GCC unroll 8
  for (int line = 0; line < lines; ++line) __builtin_prefetch(at + line * code_vector_bytes);
}

}  // namespace lagoon::vector
