// kv_cache.h: keys and values of one sequence. Every layer keeps pages of `attention_block` positions; a full layer's list
// of pages grows with the sequence, a sliding layer's is a ring of ring_rows() rows, whatever the context.
//
// A page of one layer: the keys of each KV head, then the values of each, laid out as kernels/attention_block.h says; bf16, or
// f32 in oracle precision. Position p lies in page p / attention_block (modulo the ring), place p % attention_block.
// Pages are shared between forks and copied when one of them writes.
#pragma once

#include "base/aligned_buffer.h"
#include "checkpoint/model_config.h"
#include "kernels/attention_block.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lagoon {

class KvCache {
 public:
  /// Claims nothing: pages are made as the sequence grows, and whoever owns the cache has claimed all that it can come to.
  /// @param step_rows  most rows that one step appends
  KvCache(const ModelConfig& config, int64_t step_rows, ElementType element);

  /// The same past, sharing pages.
  std::unique_ptr<KvCache> fork() const { return std::unique_ptr<KvCache>(new KvCache(*this)); }

  /// Positions that are filled.
  int64_t length() const { return length_; }

  /// Makes room for `rows` more positions in every layer: all that can fail of an append.
  /// @throws Error(io) if the system has no memory; the cache then reads as before
  void reserve(int64_t rows);

  /// Asks for the memory that store() will write: a position's key touches as many cache lines as it has dimensions.
  void prepare_store(int layer, int kv_head, int64_t position) const;

  /// Writes the key and the value [head_dim] of (layer, kv head, position). @pre reserve() covered the position
  void store(int layer, int kv_head, int64_t position, const float* key, const float* value);

  /// Counts the rows written as filled.
  void advance(int64_t rows);

  /// Keys and values of positions [begin, end), which lie in one attention block.
  KeyValueBlock block(int layer, int kv_head, int64_t begin, int64_t end) const;

  /// True if the sequence can be cut to `position`: the rings still hold what its next token looks at.
  bool can_rewind(int64_t position) const;

  /// @pre can_rewind(position)
  void rewind(int64_t position);

  ElementType element() const { return element_; }

  /// Bytes of all pages, those shared with forks included.
  uint64_t bytes() const;

  /// Bytes of one page of one layer.
  static uint64_t page_bytes(const ModelConfig& config, ElementType element);

 private:
  /// Pages that are made together lie in one buffer, large enough for huge pages; each is shared and copied by itself.
  struct Page {
    std::shared_ptr<AlignedBuffer<std::byte>> memory;
    std::byte* begin = nullptr;
  };

  struct Layer {
    AttentionKind kind = AttentionKind::full;
    std::vector<std::shared_ptr<Page>> pages;  // sliding: as many as the ring has, from the start
  };

  KvCache(const KvCache&) = default;

  std::vector<std::shared_ptr<Page>> new_pages(size_t count) const;
  size_t page_at(const Layer& layer, int64_t position) const;
  size_t keys_at(int kv_head) const;    // bytes from the start of a page
  size_t values_at(int kv_head) const;  // bytes from the start of a page

  ElementType element_;
  int kv_heads_;
  int head_dim_;
  int window_;
  int64_t ring_rows_;  // of a sliding layer
  uint64_t page_bytes_;
  int64_t length_ = 0;
  int64_t furthest_ = 0;  // end of the rows ever reserved: the rings hold no position below furthest_ - ring_rows_
  std::vector<Layer> layers_;
};

}  // namespace lagoon
