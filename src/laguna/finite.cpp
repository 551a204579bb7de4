#include "laguna/finite.h"

#include <cstring>

namespace lagoon {
namespace {

/// Eight bytes of numbers at once. A number is not finite if all bits of its exponent are set; then adding the lowest of them carries into the
/// bit of the sign, which the mask has cleared, and no further.
struct Lanes {
  uint64_t exponents;
  uint64_t lowest;
  uint64_t carried;
};

constexpr uint64_t in_each(uint64_t lane, int bits) {
  uint64_t all = 0;
  for (int at = 0; at < 64; at += bits) all |= lane << at;
  return all;
}

constexpr Lanes lanes_of(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return {in_each(0x7f800000, 32), in_each(0x00800000, 32), in_each(0x80000000, 32)};
    case ElementType::f16:
      return {in_each(0x7c00, 16), in_each(0x0400, 16), in_each(0x8000, 16)};
    case ElementType::bf16:
      break;
  }
  return {in_each(0x7f80, 16), in_each(0x0080, 16), in_each(0x8000, 16)};
}

constexpr int64_t block_words = 32;  // a loop of a known length, which compilers turn into vectors
constexpr int64_t block_bytes = block_words * 8;

bool has_not_finite(const std::byte* block, const Lanes& lanes) {
  uint64_t words[block_words];
  std::memcpy(words, block, sizeof words);
  uint64_t carried = 0;
  for (const uint64_t word : words) carried |= (word & lanes.exponents) + lanes.lowest;
  return (carried & lanes.carried) != 0;
}

bool is_finite(const std::byte* number, ElementType type) {
  uint64_t word = 0;
  std::memcpy(&word, number, static_cast<size_t>(bytes_of(type)));
  const Lanes lanes = lanes_of(type);
  return (((word & lanes.exponents) + lanes.lowest) & lanes.carried) == 0;
}

}  // namespace

int64_t first_not_finite(const std::byte* numbers, ElementType type, int64_t count) {
  const Lanes lanes = lanes_of(type);
  const int64_t bytes = count * bytes_of(type);
  int64_t at = 0;
  while (bytes - at >= block_bytes && !has_not_finite(numbers + at, lanes)) at += block_bytes;
  int64_t index = at / bytes_of(type);
  while (index < count && is_finite(numbers + index * bytes_of(type), type)) ++index;
  return index;
}

}  // namespace lagoon
