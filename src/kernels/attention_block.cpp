#include "kernels/attention_block.h"

#include "base/bfloat16.h"

#include <cstring>

namespace lagoon {
namespace {

void store_number(float number, ElementType element, std::byte* base, int64_t at) {
  if (element == ElementType::f32) {
    std::memcpy(base + at * 4, &number, 4);
    return;
  }
  const Bfloat16 rounded = to_bfloat16(number);
  std::memcpy(base + at * 2, &rounded.bits, 2);
}

}  // namespace

void store_key_value(const float* key, const float* value, int head_dim, int place, ElementType element, std::byte* keys, std::byte* values) {
  for (int d = 0; d < head_dim; ++d) {
    store_number(key[d], element, keys, key_offset(place, d, head_dim));
    store_number(value[d], element, values, value_offset(place, d));
  }
}

}  // namespace lagoon
