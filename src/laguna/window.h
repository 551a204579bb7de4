// window.h: who sees whom. Used by attention, the KV cache, and whoever plans memory.
#pragma once

#include "checkpoint/model_config.h"
#include "kernels/attention_block.h"

#include <algorithm>
#include <cstdint>

namespace lagoon {

struct KeyRange {
  int64_t begin = 0;
  int64_t end = 0;
};

/// Positions whose keys the token at `position` attends to: itself and all before it; on a sliding layer only the last
/// `window` of these, itself included: position - window < key <= position.
inline KeyRange visible_keys(AttentionKind kind, int window, int64_t position) {
  const int64_t begin = kind == AttentionKind::sliding ? std::max<int64_t>(0, position - window + 1) : 0;
  return {begin, position + 1};
}

/// Of sliding layers: what reaches beyond the longest sequence sees no more than that.
inline int usable_window(const ModelConfig& config) { return static_cast<int>(std::min<int64_t>(config.sliding_window, config.max_context)); }

/// Rows that a sliding layer keeps so that a step of `step_rows` rows finds all it may look at: window + step_rows - 1,
/// rounded up to whole attention blocks, since a block must lie in one piece.
inline int64_t ring_rows(int window, int64_t step_rows) {
  const int64_t rows = window + step_rows - 1;
  return (rows + attention_block - 1) / attention_block * attention_block;
}

}  // namespace lagoon
