// rank_queue.h: the merges that wait in a long piece: lowest rank first, of equal ranks the leftmost.
// One list of positions per rank, in a heap by rank. Merges of one rank come about from left to right, so the lists are nearly
// always sorted already, and a text of one letter a million times costs no more per byte than prose; a heap of positions would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lagoon {

class RankQueue {
 public:
  struct Item {
    uint32_t rank;
    uint32_t position;
  };

  bool empty() const { return heap_.empty(); }
  void push(Item item);
  /// @pre not empty
  Item pop();

 private:
  struct Bucket {
    uint32_t rank = 0;
    size_t done = 0;  // positions before it have been popped
    bool sorted = true;
    std::vector<uint32_t> positions;
  };

  Bucket& bucket_of(uint32_t rank);
  void grow();

  std::vector<Bucket> buckets_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(64);  // open addressing by rank: 1 + index of the bucket, 0 if free
  std::vector<uint64_t> heap_;                               // rank << 32 | index of the bucket, for buckets that hold positions
};

}  // namespace lagoon
