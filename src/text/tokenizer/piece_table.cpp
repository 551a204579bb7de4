#include "text/tokenizer/piece_table.h"

#include <bit>
#include <cstring>

namespace lagoon {
namespace {

uint64_t mix(uint64_t state, uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15u;
  return state ^ (state >> 29);
}

}  // namespace

uint32_t PieceTable::hash_of(std::string_view bytes) {
  uint64_t state = bytes.size();
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, 8);
    state = mix(state, word);
  }
  uint64_t word = 0;
  if (left >= 4) {
    uint32_t low = 0;
    uint32_t high = 0;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + left - 4, 4);
    word = low | uint64_t{high} << 32;
  } else if (left > 0) {
    word = static_cast<unsigned char>(at[0]) | uint64_t{static_cast<unsigned char>(at[left / 2])} << 8 |
           uint64_t{static_cast<unsigned char>(at[left - 1])} << 16;
  }
  state = mix(state, word);
  return static_cast<uint32_t>(state ^ (state >> 32));
}

void PieceTable::reserve(size_t entries, size_t bytes) {
  const size_t size = std::bit_ceil(entries * 2 + 2);
  entries_.assign(size, Entry{});
  mask_ = size - 1;
  arena_.reserve(bytes);
}

void PieceTable::insert(std::string_view bytes, int32_t id) {
  const uint32_t hash = hash_of(bytes);
  size_t slot = hash & mask_;
  while (entries_[slot].id >= 0) slot = (slot + 1) & mask_;
  Entry& entry = entries_[slot];
  entry.hash = hash;
  entry.id = id;
  entry.offset = static_cast<uint32_t>(arena_.size());
  entry.length = static_cast<uint32_t>(bytes.size()) & 0x7fffffffu;
  longest_ = std::max(longest_, bytes.size());
  arena_.append(bytes);
}

}  // namespace lagoon
