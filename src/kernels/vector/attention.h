// attention.h: attention over one block of keys and values (attention_block.h), 16 lanes at a time. Every number is computed
// as scalar/attention.cpp does: scores by fused multiply-add over ascending dimensions, weights summed in lane place % 16,
// values by fused multiply-add over ascending places. A pass over keys or values serves as many heads as registers hold.
//
// A line of 32 bf16 is taken apart into its even and its odd places, which costs one instruction each; accumulators are put in
// order once, at the end of a strip. While a strip is worked on, the next one is fetched: it takes the processor's own
// prefetching a while to notice each.
#pragma once

#include "kernels/attention_block.h"
#include "kernels/scalar/scalar.h"
#include "kernels/vector/elementwise.h"

#include <cstdint>

namespace lagoon::vector {

constexpr int most_heads = lanes;                    // whose maxima, sums and factors fill one vector
constexpr int64_t line_bytes = attention_strip * 2;  // of bf16

/// Up to 16 query heads that attend over one block.
struct BlockTask {
  const float* queries;  // [heads][head_dim]
  int heads;
  int head_dim;
  float score_scale;
  const KeyValueBlock& block;
  float* weights;  // [heads][attention_block]: scores, then e^(score - maximum)
};

/// What merging multiplies by: e^(m - n) of both sides, as in scalar::merge_attention.
struct MergeFactors {
  alignas(64) float keep[most_heads];
  alignas(64) float take[most_heads];
};

/// A number of heads that is known when a function is compiled.
template <int count>
struct Heads {};

/// step(Heads<count>{}, first), 1 <= count <= most.
template <int most, class Step>
void with_heads(int count, int first, const Step& step) {
  if constexpr (most > 1) {
    if (count < most) return with_heads<most - 1>(count, first, step);
  }
  step(Heads<most>{}, first);
}

/// Calls step(Heads<count>{}, first head) for groups of at most `most` heads, as even as can be.
template <int most, class Step>
void over_heads(int heads, const Step& step) {
  int first = 0;
  for (int groups = (heads + most - 1) / most; groups > 0; --groups) {
    const int count = (heads - first + groups - 1) / groups;
    with_heads<most>(count, first, step);
    first += count;
  }
}

/// Scores of one strip of places. @param keys  of the strip; @param next  what will be read after it, as long
/// @param scores  [heads][attention_block], from the strip's first place on
template <class Lanes, int heads>
void score_strip(const float* queries, int head_dim, float score_scale, const std::byte* keys, const std::byte* next, float* scores) {
  Lanes even[heads];
  Lanes odd[heads];
  const float* query[heads];
  for (int head = 0; head < heads; ++head) {
    even[head] = odd[head] = Lanes::zero();
    query[head] = queries + int64_t{head} * head_dim;
  }
  for (int64_t d = 0; d < head_dim; ++d) {
    Lanes first;
    Lanes second;
    Lanes::load_bf16_pairs(keys + d * line_bytes, first, second);
    __builtin_prefetch(next + d * line_bytes);
    for (int head = 0; head < heads; ++head) {
      const Lanes q = Lanes::all(query[head][d]);
      even[head] = fma(q, first, even[head]);
      odd[head] = fma(q, second, odd[head]);
    }
  }
  for (int head = 0; head < heads; ++head) {
    Lanes::interleave(even[head], odd[head]);
    (even[head] * Lanes::all(score_scale)).store(scores + head * attention_block);
    (odd[head] * Lanes::all(score_scale)).store(scores + head * attention_block + lanes);
  }
}

template <class Lanes>
void score_keys(const BlockTask& task) {
  for (int place = task.block.begin / attention_strip * attention_strip; place < task.block.end; place += attention_strip) {
    const std::byte* keys = task.block.keys + int64_t{place} * task.head_dim * 2;
    const bool last = place + attention_strip >= task.block.end;
    const std::byte* next = last ? task.block.values + task.block.begin * line_bytes : keys + task.head_dim * line_bytes;
    over_heads<Lanes::attention_heads>(task.heads, [&]<int count>(Heads<count>, int first) {
      score_strip<Lanes, count>(task.queries + int64_t{first} * task.head_dim, task.head_dim, task.score_scale, keys, next,
                                task.weights + first * attention_block + place);
    });
  }
}

/// Scores to weights. Lane h of maximum and sum belongs to head h. Places outside the range are in memory, but take no part.
template <class Lanes>
void weigh_scores(const BlockTask& task, Lanes& maximum, Lanes& sum) {
  const auto greater = [](Lanes a, Lanes b) { return select(less(a, b), b, a); };
  const int begin = task.block.begin / lanes * lanes;
  Lanes rows[most_heads];
  alignas(64) float first[most_heads] = {};
  for (int head = 0; head < most_heads; ++head) {
    rows[head] = Lanes::all(-__builtin_inff());
    if (head >= task.heads) continue;
    const float* scores = task.weights + head * attention_block;
    first[head] = scores[task.block.begin];
    for (int at = begin; at < task.block.end; at += lanes) {
      const auto mask = Lanes::range(task.block.begin - at, task.block.end - at);
      rows[head] = greater(rows[head], select(mask, Lanes::load(scores + at), rows[head]));
    }
  }
  // A NaN is less than nothing: it is the largest only where it comes first, as for std::max_element.
  const Lanes candidate = Lanes::load(first);
  maximum = select(is_nan(candidate), candidate, Lanes::reduce_rows(rows, greater));
  maximum.store(first);
  for (int head = 0; head < most_heads; ++head) {
    rows[head] = Lanes::zero();
    if (head >= task.heads) continue;
    float* weights = task.weights + head * attention_block;
    const Lanes peak = Lanes::all(first[head]);
    for (int at = begin; at < task.block.end; at += lanes) {
      const auto mask = Lanes::range(task.block.begin - at, task.block.end - at);
      const Lanes weight = exponential(Lanes::load(weights + at) - peak);
      weight.store(weights + at);
      rows[head] = select(mask, rows[head] + weight, rows[head]);
    }
  }
  sum = Lanes::reduce_rows(rows, [](Lanes a, Lanes b) { return a + b; });
}

/// Merges maxima and sums of up to 16 heads.
template <class Lanes>
void merge_sums(Lanes later_maximum, Lanes later_sum, int heads, float* maxima, float* sums, MergeFactors& factors) {
  const First part{heads};
  const Lanes before = Lanes::load(maxima, part);
  const Lanes maximum = select(less(before, later_maximum), later_maximum, before);
  const Lanes keep = exponential(before - maximum);
  const Lanes take = exponential(later_maximum - maximum);
  maximum.store(maxima, part);
  fma(Lanes::load(sums, part), keep, later_sum * take).store(sums, part);
  keep.store(factors.keep);
  take.store(factors.take);
}

/// Sums the values of one strip of dimensions over the block's places and merges them.
/// @param values      of the strip; @param next  what will be read after it, as long; @param weights  [heads][attention_block]
/// @param keep, take  [heads]; @param out  [heads][head_dim], from the strip's first dimension on, of which `count` are there
template <class Lanes, int heads>
void value_strip(const KeyValueBlock& block, const std::byte* values, const std::byte* next, const float* weights, const float* keep,
                 const float* take, int head_dim, int count, float* out) {
  Lanes even[heads];
  Lanes odd[heads];
  for (int head = 0; head < heads; ++head) even[head] = odd[head] = Lanes::zero();
  const int64_t end = block.end;
  for (int64_t place = block.begin; place < end; ++place) {
    Lanes first;
    Lanes second;
    Lanes::load_bf16_pairs(values + place * line_bytes, first, second);
    __builtin_prefetch(next + place * line_bytes);
    for (int head = 0; head < heads; ++head) {
      const Lanes weight = Lanes::all(weights[head * attention_block + place]);
      even[head] = fma(weight, first, even[head]);
      odd[head] = fma(weight, second, odd[head]);
    }
  }
  for (int head = 0; head < heads; ++head) {
    Lanes::interleave(even[head], odd[head]);
    over(count < attention_strip ? count : attention_strip, [&](int64_t at, auto part) {
      float* to = out + int64_t{head} * head_dim + at;
      fma(Lanes::load(to, part), Lanes::all(keep[head]), (at == 0 ? even[head] : odd[head]) * Lanes::all(take[head])).store(to, part);
    });
  }
}

template <class Lanes>
void sum_values(const BlockTask& task, const MergeFactors& factors, float* out) {
  for (int d = 0; d < task.head_dim; d += attention_strip) {
    const std::byte* values = task.block.values + int64_t{d} * attention_block * 2;
    const std::byte* after = task.block.next_keys ? task.block.next_keys : values;
    const std::byte* next = d + attention_strip < task.head_dim ? values + attention_block * line_bytes : after;
    over_heads<Lanes::attention_heads>(task.heads, [&]<int count>(Heads<count>, int first) {
      value_strip<Lanes, count>(task.block, values, next, task.weights + first * attention_block, factors.keep + first, factors.take + first,
                                task.head_dim, task.head_dim - d, out + int64_t{first} * task.head_dim + d);
    });
  }
}

template <class Lanes>
void attend_block(const float* queries, int heads, int head_dim, float score_scale, const KeyValueBlock& block, const AttentionPartial& partial) {
  if (block.element != ElementType::bf16) return scalar::attend_block(queries, heads, head_dim, score_scale, block, partial);
  alignas(64) float weights[most_heads * attention_block];
  for (int head = 0; head < heads; head += most_heads) {
    const int64_t offset = int64_t{head} * head_dim;
    const BlockTask task = {queries + offset, heads - head < most_heads ? heads - head : most_heads, head_dim, score_scale, block, weights};
    Lanes maximum;
    Lanes sum;
    MergeFactors factors;
    score_keys<Lanes>(task);
    weigh_scores(task, maximum, sum);
    merge_sums(maximum, sum, task.heads, partial.maximum + head, partial.sum + head, factors);
    sum_values<Lanes>(task, factors, partial.values + offset);
  }
}

template <class Lanes>
void merge_attention(const AttentionPartial& later, int heads, int head_dim, const AttentionPartial& partial) {
  for (int first = 0; first < heads; first += most_heads) {
    const First part{heads - first < most_heads ? heads - first : most_heads};
    MergeFactors factors;
    merge_sums(Lanes::load(later.maximum + first, part), Lanes::load(later.sum + first, part), part.count, partial.maximum + first,
               partial.sum + first, factors);
    for (int head = 0; head < part.count; ++head) {
      const int64_t offset = int64_t{first + head} * head_dim;
      const Lanes keep = Lanes::all(factors.keep[head]);
      const Lanes take = Lanes::all(factors.take[head]);
      over(head_dim, [&](int64_t at, auto some) {
        float* to = partial.values + offset + at;
        fma(Lanes::load(to, some), keep, Lanes::load(later.values + offset + at, some) * take).store(to, some);
      });
    }
  }
}

template <class Lanes>
void finish_attention(const AttentionPartial& partial, int heads, int head_dim, float* out) {
  for (int head = 0; head < heads; ++head) {
    const int64_t offset = int64_t{head} * head_dim;
    const Lanes sum = Lanes::all(partial.sum[head]);
    over(head_dim, [&](int64_t at, auto part) { (Lanes::load(partial.values + offset + at, part) / sum).store(out + offset + at, part); });
  }
}

}  // namespace lagoon::vector
