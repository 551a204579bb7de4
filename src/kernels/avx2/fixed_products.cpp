#include "kernels/avx2/lanes.h"
#include "kernels/vector/fixed_many_tokens.h"
#include "kernels/vector/fixed_row.h"
#include "kernels/vector/pack_tile.h"
#include "kernels/vector_sets.h"

#include <cstring>

namespace lagoon::avx2 {
namespace {

/// Pairs of 16-bit products (vpmaddwd), 8 rows in each register.
struct WordProducts {
  using Lanes = avx2::Lanes;
  struct Bytes {
    __m256i low, high;  // rows 0 to 7, 8 to 15
  };
  using Sum = Bytes;

  static constexpr int parts = 2;
  static constexpr int passes = 1;
  static constexpr int streams = 2;
  static constexpr int tiles_at_once = 1;
  static constexpr int tokens_at_once = 4;
  static constexpr int64_t prefetch_bytes = 4096;

  static Bytes load_bytes(const std::byte* from) {
    const auto* halves = reinterpret_cast<const __m256i*>(from);
    return {_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)};
  }
  static void store_bytes(std::byte* to, Bytes bytes) {
    auto* halves = reinterpret_cast<__m256i*>(to);
    _mm256_storeu_si256(halves, bytes.low);
    _mm256_storeu_si256(halves + 1, bytes.high);
  }

  static Bytes twice(__m256i half) { return {half, half}; }
  static Bytes mask(int bits) { return twice(_mm256_set1_epi16(static_cast<int16_t>(bits))); }

  /// Within 16 bits; to the left where `distance` is negative.
  template <int distance>
  static Bytes shift_right(Bytes bytes) {
    if constexpr (distance == 0) {
      return bytes;
    } else if constexpr (distance < 0) {
      return {_mm256_slli_epi16(bytes.low, -distance), _mm256_slli_epi16(bytes.high, -distance)};
    } else {
      return {_mm256_srli_epi16(bytes.low, distance), _mm256_srli_epi16(bytes.high, distance)};
    }
  }

  static Bytes both(Bytes a, Bytes b) { return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)}; }
  /// low, or what high has in `mask`.
  static Bytes with_bits(Bytes low, Bytes high, Bytes mask) {
    const Bytes added = both(high, mask);
    return {_mm256_or_si256(low.low, added.low), _mm256_or_si256(low.high, added.high)};
  }

  /// Two neighbouring 16-bit numbers for every row.
  static __m256i broadcast_pair(const int16_t* pair) {
    int32_t both_words;  // NOLINT(cppcoreguidelines-init-variables): filled by memcpy
    std::memcpy(&both_words, pair, sizeof both_words);
    return _mm256_set1_epi32(both_words);
  }

  template <int pass>
  static void add_quad(Sum& sum, const Bytes* codes, const int16_t* quad) {
    const __m256i even = broadcast_pair(quad);
    const __m256i odd = broadcast_pair(quad + 2);
    sum = join(sum, {_mm256_madd_epi16(codes[0].low, even), _mm256_madd_epi16(codes[0].high, even)});
    sum = join(sum, {_mm256_madd_epi16(codes[1].low, odd), _mm256_madd_epi16(codes[1].high, odd)});
    // Without this g++ puts the additions off until all products are there, more than the registers hold.
    __asm__("" : "+x"(sum.low), "+x"(sum.high));
  }
  static Sum join(Sum a, Sum b) { return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)}; }
  static Lanes to_lanes(const Sum& sum) { return {_mm256_cvtepi32_ps(sum.low), _mm256_cvtepi32_ps(sum.high)}; }

  static __m256i in_quads(__m256i words) { return vector::even_then_odd<WordProducts>(words); }
};

}  // namespace

void add_fixed_products(KernelSet& set) {
  set.fixed_probe = "16-bit products (vpmaddwd, 256-bit)";
  set.fixed_products = 1;
  set.pack_tile = vector::pack_tile<WordProducts>;
  set.to_fixed_row = vector::to_fixed_row<WordProducts>;
  set.multiply_fixed = vector::multiply_fixed<WordProducts>;
  set.gate_up_row = vector::gate_up_row<WordProducts>;
}

}  // namespace lagoon::avx2
