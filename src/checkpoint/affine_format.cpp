#include "checkpoint/affine_format.h"

#include "base/bfloat16.h"
#include "base/error.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace lagoon {
namespace {

template <typename T>
T load(std::span<const std::byte> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

std::optional<AffineFormat> affine_format_of(int64_t words, int64_t groups, int64_t inputs) {
  for (const int bits : affine_bits) {
    for (const int group : affine_groups) {
      // Divisions, not products: the sizes come from a file.
      if (inputs > 0 && inputs % group == 0 && inputs / group == groups && words % bits == 0 && words / bits == inputs / 32) {
        return AffineFormat{bits, group};
      }
    }
  }
  return std::nullopt;
}

void unpack_codes(std::span<const std::byte> packed, int bits, std::span<uint8_t> codes) {
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

float element_at(std::span<const std::byte> bytes, ElementType type, size_t index) {
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

void dequantize_row(const WeightFormat& format, std::span<const std::byte> codes, std::span<const std::byte> scales,
                    std::span<const std::byte> biases, std::span<float> row) {
  const auto group = static_cast<size_t>(format.group);
  require(format.kind == WeightFormat::Kind::affine && row.size() % group == 0, "an affine row of whole groups");
  std::vector<uint8_t> unpacked(row.size());
  unpack_codes(codes, format.bits, unpacked);
  for (size_t k = 0; k < row.size(); ++k) {
    row[k] = dequantize(element_at(scales, format.element, k / group), unpacked[k], element_at(biases, format.element, k / group));
  }
}

}  // namespace lagoon
