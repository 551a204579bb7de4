// synthetic_values.h: random numbers of a synthetic checkpoint, made for any stretch of a tensor alone: byte k depends on the
// key and on k, on nothing else. A counter-based generator: eight bytes come from key + i * constant by one wide product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lagoon {

/// How the bytes of one tensor are made of random ones.
struct SyntheticValues {
  enum class Kind : uint8_t {
    bits,  // as they come: codes of every width are then uniform
    bf16,  // factor * (middle + spread * u), rounded to bf16 before and after the product; u has 4096 even levels in (-1, 1)
    f32    // middle + spread * u, u uniform in [-1, 1)
  };
  Kind kind = Kind::bits;
  float middle = 0.0f;
  float spread = 0.0f;
  float factor = 1.0f;
  uint64_t key = 0;
};

/// A key of its own for each name and seed.
uint64_t synthetic_key(uint64_t seed, std::string_view name);

/// Bytes [offset, offset + destination.size()) of the tensor.
void make_synthetic_values(const SyntheticValues& values, uint64_t offset, std::span<std::byte> destination);

}  // namespace lagoon
