// weight_format.h: how the numbers of one matrix are stored, in a checkpoint and in memory alike: they are used as published.
#pragma once

#include <string>

namespace lagoon {

enum class ElementType { f32, f16, bf16 };

/// Bytes of one number.
constexpr int bytes_of(ElementType type) { return type == ElementType::f32 ? 4 : 2; }

struct WeightFormat {
  enum class Kind { plain, affine } kind = Kind::plain;
  ElementType element = ElementType::bf16;  // plain: of the weights; affine: of scales and biases
  int bits = 0;                             // affine: 2, 3, 4, 5, 6 or 8
  int group = 0;                            // affine: inputs that share a scale and a bias: 32, 64 or 128
  bool operator==(const WeightFormat&) const = default;
};

/// "bf16", "4-bit/64".
std::string name_of(const WeightFormat& format);

}  // namespace lagoon
