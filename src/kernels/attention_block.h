// attention_block.h: how keys and values lie in memory, and the pieces in which attention is computed.
//
// A block holds attention_block positions of one KV head. Both parts are cut into strips, so that each pass of a kernel reads
// memory from front to back:
//   keys    [attention_block / strip][head_dim][strip]: 32 neighbouring positions of one dimension side by side
//   values  [head_dim / strip, rounded up][attention_block][strip]: 32 neighbouring dimensions of one position side by side
#pragma once

#include "kernels/weight_format.h"

#include <cstddef>
#include <cstdint>

namespace lagoon {

/// Positions are cut into blocks of this many at absolute borders; each block's softmax is computed by itself. Blocks merge in
/// ascending order into their span, spans in ascending order into the whole, so that the result does not depend on how the
/// work was split.
constexpr int attention_block = 128;
constexpr int attention_span = 1024;

/// Numbers side by side in a strip.
constexpr int attention_strip = 32;

/// Kernels keep a head's vector on the stack. Every published model has heads of 128.
constexpr int largest_head_dim = 512;

/// Head dimensions as values store them.
constexpr int64_t padded_head_dim(int64_t head_dim) { return (head_dim + attention_strip - 1) / attention_strip * attention_strip; }

/// Elements of one block's keys, or of its values.
constexpr int64_t key_block_elements(int64_t head_dim) { return attention_block * head_dim; }
constexpr int64_t value_block_elements(int64_t head_dim) { return attention_block * padded_head_dim(head_dim); }

/// Where dimension `d` of the position at `place` of its block lies, in elements.
constexpr int64_t key_offset(int place, int d, int head_dim) {
  return (int64_t{place / attention_strip} * head_dim + d) * attention_strip + place % attention_strip;
}
constexpr int64_t value_offset(int place, int d) {
  return (int64_t{d / attention_strip} * attention_block + place) * attention_strip + d % attention_strip;
}

/// Writes one position. @param key, value  [head_dim]. bf16 rounds to nearest even; f32 is kept
void store_key_value(const float* key, const float* value, int head_dim, int place, ElementType element, std::byte* keys, std::byte* values);

/// Keys and values of one KV head in one block, of which places [begin, end) are looked at.
struct KeyValueBlock {
  const std::byte* keys = nullptr;          // of the whole block
  const std::byte* values = nullptr;        // of the whole block
  const std::byte* next_keys = nullptr;     // of the block that comes next, to be fetched meanwhile; null: not known
  ElementType element = ElementType::bf16;  // bf16, or f32 in oracle precision
  int begin = 0;                            // 0 <= begin < end <= attention_block
  int end = 0;
};

/// Softmax-weighted values before the final division, of some query heads that share a KV head.
struct AttentionPartial {
  float* maximum = nullptr;  // [heads] largest score so far, -infinity at first
  float* sum = nullptr;      // [heads] sum of e^(score - maximum), 0 at first
  float* values = nullptr;   // [heads][head_dim] sum of e^(score - maximum) * value, 0 at first
};

}  // namespace lagoon
