#include "checkpoint/synthetic_values.h"

#include "base/bfloat16.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace lagoon {
namespace {

constexpr uint64_t golden_ratio = 0x9e3779b97f4a7c15u;  // 2^64 / phi, odd: multiples of it are distinct and far apart
constexpr size_t levels = 4096;                         // of a bf16 number
constexpr size_t worth_a_table = 64 << 10;              // bytes from which a table of all levels costs less than it saves

/// splitmix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Word i of a key. One wide product instead of mix(): compilers turn that one's two products into slow vector code.
uint64_t random_word(uint64_t key, uint64_t i) {
  __extension__ using Wide = unsigned __int128;
  const uint64_t counter = key + i * golden_ratio;
  const Wide product = static_cast<Wide>(counter) * (counter ^ 0xd1b54a32d192ed03u);
  return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
}

/// Bytes [offset, ...) of the sequence of words word(0), word(1), ...
template <typename Word>
void write_words(uint64_t offset, std::span<std::byte> destination, const Word& word) {
  const auto write_part = [&](size_t bytes) {
    const uint64_t whole = word(offset / 8);
    std::memcpy(destination.data(), reinterpret_cast<const std::byte*>(&whole) + offset % 8, bytes);
    offset += bytes;
    destination = destination.subspan(bytes);
  };
  if (offset % 8 != 0) write_part(std::min(8 - offset % 8, destination.size()));
  const uint64_t first = offset / 8;
  const size_t whole_words = destination.size() / 8;
  std::byte* out = destination.data();
  for (size_t i = 0; i < whole_words; ++i) {
    const uint64_t made = word(first + i);
    std::memcpy(out + i * 8, &made, 8);
  }
  offset += whole_words * 8;
  destination = destination.subspan(whole_words * 8);
  if (!destination.empty()) write_part(destination.size());
}

uint64_t bfloat16_level(const SyntheticValues& values, uint64_t level) {
  const float u = (static_cast<float>(level) - 2047.5f) / 2048.0f;
  return to_bfloat16(values.factor * to_float(to_bfloat16(values.middle + values.spread * u))).bits;
}

/// @param number  of a level, below `levels`: its 16 bits
template <typename Number>
void write_bfloat16(const SyntheticValues& values, uint64_t offset, std::span<std::byte> destination, const Number& number) {
  write_words(offset, destination, [&](uint64_t i) {
    const uint64_t word = random_word(values.key, i);
    return number(word % levels) | number((word >> 16) % levels) << 16 | number((word >> 32) % levels) << 32 | number((word >> 48) % levels) << 48;
  });
}

uint64_t two_floats(const SyntheticValues& values, uint64_t word) {
  const auto one = [&](uint32_t half) {
    const float u = static_cast<float>(static_cast<int32_t>(half)) / 2147483648.0f;
    return static_cast<uint64_t>(std::bit_cast<uint32_t>(values.middle + values.spread * u));
  };
  return one(static_cast<uint32_t>(word)) | one(static_cast<uint32_t>(word >> 32)) << 32;
}

}  // namespace

uint64_t synthetic_key(uint64_t seed, std::string_view name) {
  uint64_t key = mix(seed + golden_ratio);
  for (const char letter : name) key = mix(key ^ static_cast<uint8_t>(letter));
  return key;
}

void make_synthetic_values(const SyntheticValues& values, uint64_t offset, std::span<std::byte> destination) {
  switch (values.kind) {
    case SyntheticValues::Kind::bits:
      return write_words(offset, destination, [key = values.key](uint64_t i) { return random_word(key, i); });
    case SyntheticValues::Kind::f32:
      return write_words(offset, destination, [&](uint64_t i) { return two_floats(values, random_word(values.key, i)); });
    case SyntheticValues::Kind::bf16:
      break;
  }
  if (destination.size() < worth_a_table) {
    return write_bfloat16(values, offset, destination, [&](uint64_t level) { return bfloat16_level(values, level); });
  }
  std::array<uint16_t, levels> table;
  for (size_t level = 0; level < levels; ++level) table[level] = static_cast<uint16_t>(bfloat16_level(values, level));
  write_bfloat16(values, offset, destination, [&](uint64_t level) { return static_cast<uint64_t>(table[level]); });
}

}  // namespace lagoon
