#include "checkpoint/affine_format.h"
#include "support/affine_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace lagoon {
namespace {

using namespace testing_support;

TEST(AffineFormat, IsToldFromRowSizesAndInputs) {
  for (const int bits : affine_bits) {
    for (const int group : affine_groups) {
      const int64_t inputs = 384;
      EXPECT_EQ(affine_format_of(inputs * bits / 32, inputs / group, inputs), (AffineFormat{bits, group})) << bits << "/" << group;
    }
  }
}

TEST(AffineFormat, SameShapesMeanAnotherFormatForOtherInputs) {
  EXPECT_EQ(affine_format_of(16, 4, 128), (AffineFormat{4, 32}));
  EXPECT_EQ(affine_format_of(16, 4, 256), (AffineFormat{2, 64}));
}

TEST(AffineFormat, SizesOfNoFormatGiveNone) {
  EXPECT_FALSE(affine_format_of(7 * 2, 1, 64));                                     // 7 bits
  EXPECT_FALSE(affine_format_of(8, 4, 64));                                         // groups of 16
  EXPECT_FALSE(affine_format_of(9, 1, 64));                                         // 4.5 bits
  EXPECT_FALSE(affine_format_of(8, 1, 0));                                          // no inputs
  EXPECT_FALSE(affine_format_of(0, 0, 64));                                         // nothing
  EXPECT_FALSE(affine_format_of(std::numeric_limits<int64_t>::max(), 1, 64));       // would wrap around
  EXPECT_FALSE(affine_format_of(8, std::numeric_limits<int64_t>::max() / 32, 64));  // would wrap around
}

// Words that mx.quantize writes for w[i] = -1 + i / 16, i = 0..31, one group of 32 (values of ml-explore/mlx 0.32.4).
struct Example {
  int bits;
  float scale;
  std::vector<uint32_t> words;
};
const std::vector<Example> examples = {
    {2, 0.5f, {0xaa555400, 0xfffffeaa}},
    {3, 0.25f, {0x92489200, 0xdb2491b6, 0xffffb6da}},
    {4, 0.125f, {0x43222100, 0x87666544, 0xcbaaa988, 0xffeeedcc}},
    {5, 0.0625f, {0x8a418820, 0xc5a92839, 0xca307b9a, 0x38bdab49, 0xffbbcdeb}},
    {6, 0.0303030312f, {0x88184080, 0x54d038c2, 0x7dd6d95d, 0xe99e58e1, 0x6d32beda, 0xffef3ae3}},
    {8, 0.0075757578f, {0x19100800, 0x3a322921, 0x5b524a42, 0x7c746b63, 0x9d948c84, 0xbeb6ada5, 0xdfd6cec6, 0xfff8efe7}},
};

TEST(AffineFormat, CodesAreUnpackedLowestBitFirst) {
  for (const Example& example : examples) {
    std::array<uint8_t, 32> codes{};
    unpack_codes(std::as_bytes(std::span(example.words)), example.bits, codes);
    for (int i = 0; i < 32; ++i) {
      const float nearest = std::nearbyint(static_cast<float>(i) / 16.0f / example.scale);  // ties to even, as MLX rounds on a CPU
      const float largest = static_cast<float>((1 << example.bits) - 1);
      EXPECT_EQ(static_cast<float>(codes[static_cast<size_t>(i)]), std::min(nearest, largest)) << example.bits << " bits, code " << i;
    }
    EXPECT_EQ(codes.front(), 0);
    EXPECT_EQ(codes.back(), (1 << example.bits) - 1);
  }
}

TEST(AffineFormat, EveryCodeComesBackFromItsBits) {
  for (const int bits : affine_bits) {
    std::array<std::byte, 32> packed{};  // 32 codes
    std::array<uint8_t, 32> wanted{};
    for (size_t k = 0; k < 32; ++k) {
      wanted[k] = static_cast<uint8_t>((k * 37 + 11) & ((1u << bits) - 1));
      for (int bit = 0; bit < bits; ++bit) {
        const size_t at = k * static_cast<size_t>(bits) + static_cast<size_t>(bit);
        if ((wanted[k] >> bit & 1) != 0) packed[at / 8] |= static_cast<std::byte>(1u << at % 8);
      }
    }
    std::array<uint8_t, 32> codes{};
    unpack_codes(packed, bits, codes);
    EXPECT_EQ(codes, wanted) << bits << " bits";
  }
}

TEST(AffineFormat, RowIsScaleTimesCodePlusBiasWithNegativeScales) {
  const WeightFormat format{WeightFormat::Kind::affine, ElementType::f32, 8, 32};
  std::array<std::byte, 64> codes{};
  codes[0] = std::byte{255};
  codes[32] = std::byte{3};
  const std::array<float, 2> scales = {-0.5f, 2.0f};
  const std::array<float, 2> biases = {1.0f, -1.0f};
  std::array<float, 64> row{};

  dequantize_row(format, codes, std::as_bytes(std::span(scales)), std::as_bytes(std::span(biases)), row);

  EXPECT_EQ(row[0], -126.5f);
  EXPECT_EQ(row[1], 1.0f);
  EXPECT_EQ(row[32], 5.0f);
  EXPECT_EQ(row[33], -1.0f);
}

TEST(AffineFormat, ElementsOfEachTypeAreReadAtOddAddresses) {
  std::array<std::byte, 9> bytes{};
  const float value = -1.5f;
  std::memcpy(&bytes[5], &value, 4);
  EXPECT_EQ(element_at(std::span(bytes).subspan(1), ElementType::f32, 1), -1.5f);
  const uint16_t half = 0xbe00;  // -1.5 in binary16
  std::memcpy(&bytes[3], &half, 2);
  EXPECT_EQ(element_at(std::span(bytes).subspan(1), ElementType::f16, 1), -1.5f);
  const uint16_t brain = 0xbfc0;  // -1.5 in bfloat16
  std::memcpy(&bytes[3], &brain, 2);
  EXPECT_EQ(element_at(std::span(bytes).subspan(1), ElementType::bf16, 1), -1.5f);
}

}  // namespace
}  // namespace lagoon
