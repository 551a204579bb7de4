// fixed_codes.h: a tile's vectors of codes in AVX-512 registers, for vector/fixed_codes.h. Included by the units of the AVX-512
// sets only.
#pragma once

#include "kernels/avx512/lanes.h"

#include <cstring>

namespace lagoon::avx512 {
// Unnamed for the reason given in lanes.h.
namespace {

struct CodeVectors {
  using Lanes = avx512::Lanes;
  using Bytes = __m512i;

  static constexpr int streams = 4;
  static constexpr int tiles_at_once = 2;
  static constexpr int64_t prefetch_bytes = 2048;

  static Bytes load_bytes(const std::byte* from) { return _mm512_loadu_si512(from); }
  static void store_bytes(std::byte* to, Bytes bytes) { _mm512_storeu_si512(to, bytes); }

  /// Within 16 bits; to the left where `distance` is negative.
  template <int distance>
  static Bytes shift_right(Bytes bytes) {
    if constexpr (distance == 0) {
      return bytes;
    } else if constexpr (distance < 0) {
      return _mm512_slli_epi16(bytes, static_cast<unsigned>(-distance));
    } else {
      return _mm512_srli_epi16(bytes, static_cast<unsigned>(distance));
    }
  }

  static Bytes both(Bytes a, Bytes b) { return _mm512_and_si512(a, b); }
  /// low, or what high has in `mask`.
  static Bytes with_bits(Bytes low, Bytes high, Bytes mask) { return _mm512_ternarylogic_epi32(low, high, mask, 0xf8); }

  /// Two neighbouring 16-bit numbers for every row.
  static Bytes broadcast_pair(const int16_t* pair) {
    int32_t both_words;  // NOLINT(cppcoreguidelines-init-variables): filled by memcpy
    std::memcpy(&both_words, pair, sizeof both_words);
    return _mm512_set1_epi32(both_words);
  }

  static __m512i join(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
  static Lanes to_lanes(__m512i sum) { return {_mm512_cvtepi32_ps(sum)}; }
};

}  // namespace
}  // namespace lagoon::avx512
