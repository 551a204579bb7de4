#include "text/tokenizer/rank_queue.h"

#include <algorithm>
#include <functional>

namespace lagoon {
namespace {

size_t slot_of(uint32_t rank, size_t size) { return (rank * 0x9e3779b1u >> 7) & (size - 1); }

}  // namespace

void RankQueue::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (size_t index = 0; index < buckets_.size(); ++index) {
    size_t slot = slot_of(buckets_[index].rank, slots_.size());
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<uint32_t>(index) + 1;
  }
}

RankQueue::Bucket& RankQueue::bucket_of(uint32_t rank) {
  size_t slot = slot_of(rank, slots_.size());
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    Bucket& bucket = buckets_[slots_[slot] - 1];
    if (bucket.rank == rank) return bucket;
  }
  buckets_.push_back({rank, 0, true, {}});
  slots_[slot] = static_cast<uint32_t>(buckets_.size());
  if (buckets_.size() * 2 > slots_.size()) grow();
  return buckets_.back();
}

void RankQueue::push(Item item) {
  Bucket& bucket = bucket_of(item.rank);
  if (bucket.done == bucket.positions.size()) {
    bucket.positions.clear();
    bucket.done = 0;
    bucket.sorted = true;
    heap_.push_back(uint64_t{item.rank} << 32 | static_cast<uint64_t>(&bucket - buckets_.data()));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  } else if (item.position < bucket.positions.back()) {
    bucket.sorted = false;
  }
  bucket.positions.push_back(item.position);
}

RankQueue::Item RankQueue::pop() {
  Bucket& bucket = buckets_[static_cast<uint32_t>(heap_.front())];
  if (!bucket.sorted) {
    std::sort(bucket.positions.begin() + static_cast<ptrdiff_t>(bucket.done), bucket.positions.end());
    bucket.sorted = true;
  }
  const Item item{bucket.rank, bucket.positions[bucket.done++]};
  if (bucket.done == bucket.positions.size()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
  return item;
}

}  // namespace lagoon
