// attention.cpp: softmax attention in an order that depends on positions alone (kernels/attention_block.h): blocks merge into
// their span, spans into the whole. Who computes which span, and beside which rows, changes nothing.
#include "laguna/attention.h"

#include "laguna/window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lagoon {
namespace {

/// Neighbouring rows that look at a block while it is in the cache.
constexpr int64_t rows_of_a_tile = 16;

/// With fewer tasks than this for each thread, long contexts are cut into spans that threads share.
constexpr int64_t tasks_per_thread = 4;

/// Query heads that share a KV head, and where their results go.
struct Heads {
  explicit Heads(const AttentionLayer& l)
      : count(l.shape.query_heads / l.config.kv_heads),
        head_dim(l.config.head_dim),
        score_scale(1.0f / std::sqrt(static_cast<float>(l.config.head_dim))) {}
  int count;
  int head_dim;
  float score_scale;
};

AttentionPartial whole_partial(const AttentionLayer& l, const Heads& heads, int64_t row, int kv_head) {
  const int64_t first = int64_t{kv_head} * heads.count;
  const int64_t at = row * l.shape.query_heads + first;
  return {l.room.maximum.data() + at, l.room.sum.data() + at, l.attended.row(row) + first * heads.head_dim};
}

AttentionPartial span_partial(const AttentionLayer& l, const Heads& heads, int64_t slot, int kv_head) {
  const int64_t at = slot * l.shape.query_heads + int64_t{kv_head} * heads.count;
  return {l.room.span_maximum.data() + at, l.room.span_sum.data() + at, l.room.span_attended.data() + at * heads.head_dim};
}

void clear(const Heads& heads, const AttentionPartial& partial) {
  std::fill_n(partial.maximum, heads.count, -std::numeric_limits<float>::infinity());
  std::fill_n(partial.sum, heads.count, 0.0f);
  std::fill_n(partial.values, int64_t{heads.count} * heads.head_dim, 0.0f);
}

KeyRange visible(const AttentionLayer& l, int64_t row) {
  return visible_keys(l.shape.attention, l.config.sliding_window, l.step.rows[static_cast<size_t>(row)].position);
}

/// The part of `range` in piece `index` of pieces of `width`.
KeyRange part_of(const KeyRange& range, int64_t index, int64_t width) {
  return {std::max(range.begin, index * width), std::min(range.end, (index + 1) * width)};
}

void attend_block_of(const AttentionLayer& l, const Heads& heads, int64_t row, int kv_head, const KeyRange& keys, const AttentionPartial& partial,
                     const Compute& compute) {
  const float* queries = l.query.row(row) + int64_t{kv_head} * heads.count * heads.head_dim;
  const KeyValueBlock block = l.step.rows[static_cast<size_t>(row)].cache->block(l.layer, kv_head, keys.begin, keys.end);
  compute.kernels.attend_block(queries, heads.count, heads.head_dim, heads.score_scale, block, partial);
}

/// Divides, and multiplies with the gate.
void finish(const AttentionLayer& l, const Heads& heads, int64_t row, int kv_head, const Compute& compute) {
  const AttentionPartial whole = whole_partial(l, heads, row, kv_head);
  compute.kernels.finish_attention(whole, heads.count, heads.head_dim, whole.values);
  const int64_t first = int64_t{kv_head} * heads.count;
  if (l.shape.gate == GateKind::per_element) {
    compute.kernels.gate_elements(l.gate.row(row) + first * heads.head_dim, whole.values, int64_t{heads.count} * heads.head_dim);
    return;
  }
  for (int head = 0; head < heads.count; ++head) {
    compute.kernels.gate_head(l.gate.row(row)[first + head], whole.values + int64_t{head} * heads.head_dim, heads.head_dim);
  }
}

/// Calls body(item, kv_head) for every item and KV head, on all threads.
template <typename Body>
void for_each_head(const AttentionLayer& l, int64_t items, const Compute& compute, Body&& body) {
  compute.pool.run(items * l.config.kv_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      if (compute.check != nullptr) (*compute.check)();
      body(at / l.config.kv_heads, static_cast<int>(at % l.config.kv_heads));
    }
  });
}

/// Rows [begin, end) of one sequence and one KV head, block after block, so that a block serves all rows while it is near.
void attend_tile(const AttentionLayer& l, const Heads& heads, int64_t begin, int64_t end, int kv_head, const Compute& compute) {
  KeyRange all = visible(l, begin);
  all.end = visible(l, end - 1).end;
  for (int64_t row = begin; row < end; ++row) {
    clear(heads, whole_partial(l, heads, row, kv_head));
    clear(heads, span_partial(l, heads, row, kv_head));
  }
  for (int64_t block = all.begin / attention_block; block * attention_block < all.end; ++block) {
    for (int64_t row = begin; row < end; ++row) {
      const KeyRange keys = part_of(visible(l, row), block, attention_block);
      if (keys.begin >= keys.end) continue;
      const AttentionPartial span = span_partial(l, heads, row, kv_head);
      attend_block_of(l, heads, row, kv_head, keys, span, compute);
      const bool span_ends = keys.end == visible(l, row).end || keys.end % attention_span == 0;
      if (!span_ends) continue;
      compute.kernels.merge_attention(span, heads.count, heads.head_dim, whole_partial(l, heads, row, kv_head));
      clear(heads, span);
    }
  }
  for (int64_t row = begin; row < end; ++row) finish(l, heads, row, kv_head, compute);
}

/// Stretches of neighbouring rows of one sequence, rows_of_a_tile at most.
std::vector<KeyRange> row_tiles(const Step& step) {
  std::vector<KeyRange> tiles;
  const auto rows = static_cast<int64_t>(step.rows.size());
  for (int64_t begin = 0; begin < rows;) {
    int64_t end = begin + 1;
    while (end < rows && end - begin < rows_of_a_tile && step.rows[static_cast<size_t>(end)].cache == step.rows[static_cast<size_t>(begin)].cache)
      ++end;
    tiles.push_back({begin, end});
    begin = end;
  }
  return tiles;
}

/// One span of one row, and the slot where its result waits.
struct SpanTask {
  int64_t row;
  int64_t span;
};

/// Few rows with long contexts: spans are shared out, then merged in order. False, and nothing is done, where they do not fit
/// the slots.
bool attend_by_spans(const AttentionLayer& l, const Heads& heads, const Compute& compute) {
  const auto rows = static_cast<int64_t>(l.step.rows.size());
  std::vector<SpanTask> tasks;
  std::vector<int64_t> first(static_cast<size_t>(rows) + 1);  // slot of each row's first span
  for (int64_t row = 0; row < rows; ++row) {
    first[static_cast<size_t>(row)] = static_cast<int64_t>(tasks.size());
    const KeyRange keys = visible(l, row);
    for (int64_t span = keys.begin / attention_span; span * attention_span < keys.end; ++span) tasks.push_back({row, span});
  }
  first.back() = static_cast<int64_t>(tasks.size());
  if (first.back() > l.room.span_slots) return false;

  for_each_head(l, first.back(), compute, [&](int64_t slot, int kv_head) {
    const SpanTask& task = tasks[static_cast<size_t>(slot)];
    const AttentionPartial partial = span_partial(l, heads, slot, kv_head);
    clear(heads, partial);
    const KeyRange span = part_of(visible(l, task.row), task.span, attention_span);
    for (int64_t block = span.begin / attention_block; block * attention_block < span.end; ++block)
      attend_block_of(l, heads, task.row, kv_head, part_of(span, block, attention_block), partial, compute);
  });
  for_each_head(l, rows, compute, [&](int64_t row, int kv_head) {
    const AttentionPartial whole = whole_partial(l, heads, row, kv_head);
    clear(heads, whole);
    for (int64_t slot = first[static_cast<size_t>(row)]; slot < first[static_cast<size_t>(row) + 1]; ++slot)
      compute.kernels.merge_attention(span_partial(l, heads, slot, kv_head), heads.count, heads.head_dim, whole);
    finish(l, heads, row, kv_head, compute);
  });
  return true;
}

/// Each sequence's visible positions once, and two products for each query head and key.
void count_work(const AttentionLayer& l, StepWork& work) {
  const auto rows = static_cast<int64_t>(l.step.rows.size());
  for (int64_t row = 0; row < rows; ++row) {
    const KeyRange keys = visible(l, row);
    work.float_multiply_adds += 2.0 * static_cast<double>(keys.end - keys.begin) * static_cast<double>(l.query.columns);
    const bool last_of_sequence = row + 1 == rows || l.step.rows[static_cast<size_t>(row) + 1].cache != l.step.rows[static_cast<size_t>(row)].cache;
    if (!last_of_sequence) continue;
    const auto element = static_cast<int64_t>(bytes_of(l.step.rows[static_cast<size_t>(row)].cache->element()));
    work.key_value_bytes += static_cast<uint64_t>((keys.end - keys.begin) * 2 * l.key.columns * element);
  }
}

/// RMS norm of the query heads of one KV head and of its key, rotation of the front of each by the row's angles; key and value
/// go into the cache.
void place_heads(const AttentionLayer& l, const Heads& heads, int64_t row, int kv_head, const Compute& compute) {
  const StepRow& at = l.step.rows[static_cast<size_t>(row)];
  at.cache->prepare_store(l.layer, kv_head, at.position);
  const auto kind = static_cast<size_t>(l.shape.attention);
  const int64_t pairs = l.config.rotary(l.shape.attention).dimensions / 2;
  const float* cosine = l.room.cosine[kind].data() + row * pairs;
  const float* sine = l.room.sine[kind].data() + row * pairs;
  const auto place = [&](float* head, const std::vector<float>& norm) {
    compute.kernels.rms_norm(head, norm.data(), heads.head_dim, l.config.rms_epsilon, head);  // before rotary
    compute.kernels.rotate(head, cosine, sine, pairs);
  };
  for (int64_t head = int64_t{kv_head} * heads.count; head < int64_t{kv_head + 1} * heads.count; ++head)
    place(l.query.row(row) + head * heads.head_dim, l.weights.query_norm);
  const int64_t column = int64_t{kv_head} * heads.head_dim;
  place(l.key.row(row) + column, l.weights.key_norm);
  at.cache->store(l.layer, kv_head, at.position, l.key.row(row) + column, l.value.row(row) + column);
}

}  // namespace

void attend(const AttentionLayer& l, const Compute& compute) {
  count_work(l, compute.work);
  const Heads heads(l);
  const auto rows = static_cast<int64_t>(l.step.rows.size());
  const std::vector<KeyRange> tiles = row_tiles(l.step);
  const auto tile_count = static_cast<int64_t>(tiles.size());
  const bool enough = tile_count * l.config.kv_heads >= tasks_per_thread * compute.pool.threads();
  if (enough && tile_count == rows) {  // each row is alone in its sequence and waits for no other row's key
    for_each_head(l, rows, compute, [&](int64_t row, int kv_head) {
      place_heads(l, heads, row, kv_head, compute);
      attend_tile(l, heads, row, row + 1, kv_head, compute);
    });
    return;
  }
  for_each_head(l, rows, compute, [&](int64_t row, int kv_head) { place_heads(l, heads, row, kv_head, compute); });
  if (!enough && attend_by_spans(l, heads, compute)) return;
  for_each_head(l, tile_count, compute, [&](int64_t tile, int kv_head) {
    const KeyRange& range = tiles[static_cast<size_t>(tile)];
    attend_tile(l, heads, range.begin, range.end, kv_head, compute);
  });
}

}  // namespace lagoon
