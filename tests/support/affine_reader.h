// affine_reader.h: MLX affine rows read in the plainest way, as the reference for what the program reads from its tiles.
#pragma once

#include "base/bfloat16.h"
#include "base/error.h"
#include "kernels/weight_format.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace lagoon::testing_support {

template <typename T>
T load(std::span<const std::byte> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// The codes of one row, or of any stretch that starts on a group. @pre packed.size() * 8 >= codes.size() * bits
inline void unpack_codes(std::span<const std::byte> packed, int bits, std::span<uint8_t> codes) {
  require(packed.size() * 8 >= codes.size() * static_cast<size_t>(bits), "fewer packed bytes than codes asked for");
  const uint32_t mask = (1u << bits) - 1u;
  uint32_t window = 0;  // bits read and not yet used, lowest first
  int held = 0;
  size_t next = 0;
  for (uint8_t& code : codes) {
    while (held < bits) {
      window |= std::to_integer<uint32_t>(packed[next++]) << held;
      held += 8;
    }
    code = static_cast<uint8_t>(window & mask);
    window >>= bits;
    held -= bits;
  }
}

/// Number `index` of an array of floats as files hold them; the bytes need no alignment.
inline float element_at(std::span<const std::byte> bytes, ElementType type, size_t index) {
  switch (type) {
    case ElementType::f32:
      return load<float>(bytes, index);
    case ElementType::f16:
      return to_float(load<Float16>(bytes, index));
    case ElementType::bf16:
      return to_float(load<Bfloat16>(bytes, index));
  }
  fail(ErrorKind::bug, "internal contradiction: an element type of no size");
}

/// One row as MLX computes it from scales and biases widened to float: the product is rounded before the sum.
/// @param row  [columns], a multiple of format.group
inline void dequantize_row(const WeightFormat& format, std::span<const std::byte> codes, std::span<const std::byte> scales,
                           std::span<const std::byte> biases, std::span<float> row) {
  const auto group = static_cast<size_t>(format.group);
  require(format.kind == WeightFormat::Kind::affine && row.size() % group == 0, "an affine row of whole groups");
  std::vector<uint8_t> unpacked(row.size());
  unpack_codes(codes, format.bits, unpacked);
  for (size_t k = 0; k < row.size(); ++k) {
    const float product = element_at(scales, format.element, k / group) * static_cast<float>(unpacked[k]);
    row[k] = product + element_at(biases, format.element, k / group);
  }
}

}  // namespace lagoon::testing_support
