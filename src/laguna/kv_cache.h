// kv_cache.h: keys and values of one sequence. Every layer keeps pages of `attention_block` positions; a full layer's list
// of pages grows with the sequence, a sliding layer's is a ring of ring_rows() rows, whatever the context.
//
// A page of one layer: keys [kv_heads][attention_block][head_dim], then values likewise; bf16, or f32 in oracle precision.
// Position p lies in page p / attention_block (modulo the ring), row p % attention_block.
// Pages are shared between forks and copied when one of them writes.
#pragma once

#include "checkpoint/model_config.h"
#include "kernels/rows.h"
#include "machine/memory_budget.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace lagoon {

class KvCache {
 public:
  /// @param step_rows  most rows that one step appends
  KvCache(const ModelConfig& config, int64_t step_rows, ElementType element, MemoryBudget& budget);

  /// The same past, sharing pages.
  std::unique_ptr<KvCache> fork() const { return std::unique_ptr<KvCache>(new KvCache(*this)); }

  /// Positions that are filled.
  int64_t length() const { return length_; }

  /// Makes room for `rows` more positions in every layer: all that can fail of an append.
  /// @throws Error(over_budget), Error(io); the cache then reads as before
  void reserve(int64_t rows);

  /// Where the key and the value of (layer, kv head, position) are written. @pre reserve() covered the position
  std::byte* key(int layer, int kv_head, int64_t position);
  std::byte* value(int layer, int kv_head, int64_t position);

  /// Counts the rows written as filled.
  void advance(int64_t rows);

  /// Keys and values of positions [begin, end), which lie in one attention block.
  KeyValueBlock block(int layer, int kv_head, int64_t begin, int64_t end) const;

  /// True if the sequence can be cut to `position`: the rings still hold what its next token looks at.
  bool can_rewind(int64_t position) const;

  /// @pre can_rewind(position)
  void rewind(int64_t position);

  ElementType element() const { return element_; }

  /// Bytes of one page of one layer.
  static uint64_t page_bytes(const ModelConfig& config, ElementType element);

 private:
  using Page = ClaimedBuffer<std::byte>;

  struct Layer {
    AttentionKind kind = AttentionKind::full;
    std::vector<std::shared_ptr<Page>> pages;  // sliding: as many as the ring has, from the start
  };

  KvCache(const KvCache&) = default;

  std::shared_ptr<Page> new_page(AttentionKind kind) const;
  size_t page_at(const Layer& layer, int64_t position) const;
  std::byte* slot(int layer, int64_t position, size_t row_of_page);
  size_t row_bytes() const { return static_cast<size_t>(head_dim_) * static_cast<size_t>(bytes_of(element_)); }

  MemoryBudget* budget_;
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
