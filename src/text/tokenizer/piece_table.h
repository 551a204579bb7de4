// piece_table.h: from bytes to the id of a token, in one probe or two.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

class PieceTable {
 public:
  struct Entry {
    uint32_t hash = 0;
    int32_t id = -1;      // -1: the slot is free
    uint32_t offset = 0;  // of the bytes in the arena
    uint32_t length : 31 = 0;
    uint32_t whole : 1 = 0;  // encoding these bytes gives this id alone
  };

  /// @param bytes  the sum of the lengths that will be inserted
  void reserve(size_t entries, size_t bytes);

  /// @pre the bytes are not in the table, which has been reserved for them
  void insert(std::string_view bytes, int32_t id);

  const Entry* find(std::string_view bytes) const {
    if (bytes.size() > longest_) return nullptr;
    const uint32_t hash = hash_of(bytes);
    for (size_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      const Entry& entry = entries_[slot];
      if (entry.id < 0) return nullptr;
      if (entry.hash == hash && bytes_of(entry) == bytes) return &entry;
    }
  }

  std::string_view bytes_of(const Entry& entry) const { return std::string_view(arena_).substr(entry.offset, entry.length); }
  std::vector<Entry>& entries() { return entries_; }

 private:
  static uint32_t hash_of(std::string_view bytes);

  std::vector<Entry> entries_ = std::vector<Entry>(2);  // a power of two, at most half of it in use
  size_t mask_ = 1;
  size_t longest_ = 0;
  std::string arena_;
};

}  // namespace lagoon
