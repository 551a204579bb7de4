// Products in 16-bit block fixed point: every vector set gives the bits of the scalar one, whatever the shape; and packing
// against a reader of bit streams that knows nothing of tiles.
#include "base/bfloat16.h"
#include "kernels/kernel_set.h"
#include "kernels/tile_layout.h"
#include "unit/kernels/kernel_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace lagoon {
namespace {

using namespace kernel_cases;

constexpr uint32_t seed = 20261204;
constexpr int all_bits[] = {2, 3, 4, 5, 6, 8};
constexpr ElementType all_elements[] = {ElementType::bf16, ElementType::f16, ElementType::f32};

/// An affine matrix as a checkpoint stores it.
struct StoredMatrix {
  WeightFormat format;
  int64_t rows, columns;
  std::vector<uint8_t> codes;             // [rows][columns]
  std::vector<std::byte> stream;          // [rows][columns * bits / 8]
  std::vector<std::byte> scales, biases;  // [rows][groups]

  StoredMatrix(std::mt19937& random, WeightFormat form, int64_t row_count, int64_t column_count)
      : format(form), rows(row_count), columns(column_count), codes(static_cast<size_t>(rows * columns)) {
    const int64_t row_bytes = columns * format.bits / 8;
    stream.resize(static_cast<size_t>(rows * row_bytes));
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t k = 0; k < columns; ++k) {
        const auto code = static_cast<uint8_t>(random() & ((1u << format.bits) - 1));
        codes[static_cast<size_t>(row * columns + k)] = code;
        for (int bit = 0; bit < format.bits; ++bit) {
          const int64_t at = k * format.bits + bit;
          stream[static_cast<size_t>(row * row_bytes + at / 8)] |= static_cast<std::byte>(((code >> bit) & 1) << (at % 8));
        }
      }
    }
    for (int64_t at = 0; at < rows * columns / format.group; ++at) {
      append(scales, random);
      append(biases, random);
    }
  }

  /// @pre first + count <= rows
  StoredRows part(int64_t first, int64_t count) const {
    const int64_t parameters = columns / format.group * bytes_of(format.element);
    return {format,
            count,
            columns,
            stream.data() + first * columns * format.bits / 8,
            scales.data() + first * parameters,
            biases.data() + first * parameters};
  }

 private:
  /// Of either sign, now and then 0 or large.
  void append(std::vector<std::byte>& out, std::mt19937& random) const {
    const uint32_t kind = random() % 16;
    const float value = kind == 0 ? 0.0f : std::normal_distribution<float>()(random) * (kind == 1 ? 100.0f : 0.02f);
    uint32_t bits = std::bit_cast<uint32_t>(value);
    if (format.element == ElementType::bf16) bits = to_bfloat16(value).bits;
    // any binary16 but infinities and NaN; subnormal ones included
    if (format.element == ElementType::f16) bits = random() % 0x7c00u | (random() % 2) << 15;
    const auto* bytes = reinterpret_cast<const std::byte*>(&bits);
    out.insert(out.end(), bytes, bytes + bytes_of(format.element));
  }
};

/// The codes of a packed tile are those of the checkpoint; absent rows have zeros.
void expect_codes(const StoredMatrix& stored, const std::byte* tile) {
  const WeightFormat& format = stored.format;
  for (int64_t column = 0; column < stored.columns; column += stretch_columns) {
    const int64_t stretch = column % format.group / stretch_columns;
    uint8_t codes[tile_rows][stretch_columns];
    unpack_stretch(tile + column / format.group * group_bytes(format) + stretch * code_vector_bytes * format.bits, format.bits, codes);
    for (int64_t row = 0; row < tile_rows; ++row) {
      for (int64_t k = 0; k < stretch_columns; ++k) {
        const int expected = row < stored.rows ? stored.codes[static_cast<size_t>(row * stored.columns + column + k)] : 0;
        ASSERT_EQ(codes[row][k], expected) << format.bits << " bits, row " << row << ", column " << column + k;
      }
    }
  }
}

void expect_parameters(const StoredMatrix& stored, const std::byte* tile) {
  const int64_t groups = stored.columns / stored.format.group;
  const int64_t size = bytes_of(stored.format.element);
  const std::vector<std::byte> zeros(4);
  for (int64_t group = 0; group < groups; ++group) {
    const std::byte* at = tile + group * group_bytes(stored.format) + group_code_bytes(stored.format);
    for (int64_t row = 0; row < tile_rows; ++row) {
      const int64_t from = (row * groups + group) * size;
      const std::byte* scale = row < stored.rows ? stored.scales.data() + from : zeros.data();
      const std::byte* bias = row < stored.rows ? stored.biases.data() + from : zeros.data();
      ASSERT_EQ(std::memcmp(at + row * size, scale, static_cast<size_t>(size)), 0);
      ASSERT_EQ(std::memcmp(at + (tile_rows + row) * size, bias, static_cast<size_t>(size)), 0);
    }
  }
}

class FixedProducts : public testing::TestWithParam<const KernelSet*> {
 protected:
  const KernelSet& set() const { return *GetParam(); }
  const KernelSet& scalar = scalar_kernels();
  std::mt19937 random{seed};

  /// Normal numbers with outliers, and a group of zeros.
  std::vector<float> tokens(int64_t count, int64_t columns) {
    std::normal_distribution<float> normal;
    std::vector<float> x(static_cast<size_t>(count * columns));
    for (float& value : x) value = normal(random) * (random() % 97 == 0 ? 50.0f : 1.0f);
    for (size_t at = 0; at < 32; ++at) x[at] = 0.0f;
    return x;
  }

  struct Shape {
    int64_t rows, columns;
    TileRange tiles;
    int64_t gap;
  };

  /// multiply_fixed of both sets into rows with canaries around what is written.
  void expect_equal_products(WeightFormat format, const Shape& shape, const std::vector<float>& x, RowSelection selection) {
    const StoredMatrix stored(random, format, shape.rows, shape.columns);
    const TiledMatrix packed(stored.part(0, stored.rows), scalar_kernels(), shape.gap);
    const int64_t stride = shape.rows + 5;
    std::vector<float> expected(static_cast<size_t>(selection.count * stride), canary);
    std::vector<float> got = expected;
    scalar.multiply_fixed(packed.matrix, shape.tiles, FixedTokens(scalar, x, shape.columns, format.group).rows, selection, {expected.data(), stride});
    set().multiply_fixed(packed.matrix, shape.tiles, FixedTokens(set(), x, shape.columns, format.group).rows, selection, {got.data(), stride});
    EXPECT_TRUE(same_bits(expected, got)) << format.bits << " bits, groups of " << format.group << ", element " << static_cast<int>(format.element)
                                          << ", " << shape.rows << " x " << shape.columns << ", " << selection.count << " tokens";
  }
};

std::string name_of(const testing::TestParamInfo<const KernelSet*>& parameter) {
  std::string name = parameter.param->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Machine, FixedProducts, testing::ValuesIn(vector_sets()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FixedProducts);

class Packing : public testing::TestWithParam<const KernelSet*> {};

INSTANTIATE_TEST_SUITE_P(Machine, Packing, testing::ValuesIn(runnable_kernel_sets(detect_cpu_features())), name_of);

TEST_P(FixedProducts, EveryFormatGivesTheScalarBits) {
  for (const int bits : all_bits) {
    for (const int group : group_widths) {
      for (const ElementType element : all_elements) {
        const WeightFormat format = {WeightFormat::Kind::affine, element, bits, group};
        for (const int64_t groups : {1, 3, 5}) {
          for (const int64_t count : {1, 2, 7}) {
            expect_equal_products(format, {40, group * groups, {0, 3}, 64}, tokens(count, group * groups), {nullptr, count});
          }
        }
      }
    }
  }
}

TEST_P(FixedProducts, EveryCountOfRowsAndTokensGivesTheScalarBits) {
  for (const int64_t rows : {1, 5, 16, 17, 40, 72, 128}) {
    for (const int64_t count : {1, 2, 3, 4, 5, 6, 13, 48, 49, 300}) {
      const WeightFormat format = {WeightFormat::Kind::affine, ElementType::bf16, rows % 2 == 0 ? 4 : 3, 64};
      expect_equal_products(format, {rows, 192, {0, tile_count(rows)}, 0}, tokens(count, 192), {nullptr, count});
    }
  }
}

TEST_P(FixedProducts, PartsOfAMatrixTouchTheirRowsOnly) {
  const WeightFormat format = {WeightFormat::Kind::affine, ElementType::bf16, 5, 32};
  const std::vector<float> x = tokens(9, 96);
  for (const TileRange tiles : {TileRange{0, 0}, TileRange{1, 2}, TileRange{3, 8}, TileRange{2, 9}}) {
    for (const int64_t count : {1, 9}) expect_equal_products(format, {137, 96, tiles, 192}, x, {nullptr, count});
  }
}

TEST_P(FixedProducts, SelectionsWithRepeatsGiveTheScalarBits) {
  std::vector<int32_t> index = {7, 0, 7, 3, 11, 3, 3, 1, 2, 9, 9, 5};
  for (int at = 0; at < 45; ++at) index.push_back(at % 12);
  for (const int bits : all_bits) {
    const WeightFormat format = {WeightFormat::Kind::affine, ElementType::bf16, bits, 64};
    for (const size_t count : {size_t{1}, size_t{2}, index.size()}) {
      expect_equal_products(format, {40, 128, {0, 3}, 0}, tokens(12, 128), {index.data(), static_cast<int64_t>(count)});
    }
  }
}

TEST_P(FixedProducts, WhatIsNotFiniteShowsAsInTheScalarSet) {
  std::vector<float> x = tokens(7, 192);
  x[70] = std::numeric_limits<float>::quiet_NaN();
  x[192 + 150] = std::numeric_limits<float>::infinity();
  x[2 * 192 + 5] = -std::numeric_limits<float>::infinity();
  for (const int64_t count : {1, 7}) {
    const WeightFormat format = {WeightFormat::Kind::affine, ElementType::bf16, 4, 64};
    expect_equal_products(format, {40, 192, {0, 3}, 0}, x, {nullptr, count});
  }
}

TEST_P(FixedProducts, TheLargestSumsFit) {
  std::vector<float> x(size_t{4} * 128, 32512.0f);
  for (size_t at = 128; at < 256; ++at) x[at] = -32512.0f;
  const WeightFormat format = {WeightFormat::Kind::affine, ElementType::f32, 8, 128};
  StoredMatrix stored(random, format, 16, 128);
  for (std::byte& codes : stored.stream) codes = std::byte{255};
  const TiledMatrix packed(stored.part(0, stored.rows), scalar_kernels(), 0);
  for (const int64_t count : {1, 4}) {
    std::vector<float> expected(static_cast<size_t>(count * 16)), got(expected.size());
    scalar.multiply_fixed(packed.matrix, {0, 1}, FixedTokens(scalar, x, 128, 128).rows, {nullptr, count}, {expected.data(), 16});
    set().multiply_fixed(packed.matrix, {0, 1}, FixedTokens(set(), x, 128, 128).rows, {nullptr, count}, {got.data(), 16});
    EXPECT_TRUE(same_bits(expected, got));
  }
}

TEST_P(FixedProducts, GateAndUpGiveTheScalarBits) {
  for (const int bits : all_bits) {
    for (const int64_t rows : {5, 16, 40, 72}) {
      const WeightFormat format = {WeightFormat::Kind::affine, ElementType::bf16, bits, 64};
      const StoredMatrix stored_gate(random, format, rows, 192), stored_up(random, format, rows, 192);
      const TiledMatrix gate(stored_gate.part(0, rows));
      const TiledMatrix up(stored_up.part(0, rows), scalar_kernels(), 64);
      const std::vector<float> x = tokens(3, 192);
      const TileRange tiles = {rows > 40 ? 1 : 0, tile_count(rows)};
      std::vector<float> expected(static_cast<size_t>(rows + 16), canary);
      std::vector<float> got = expected;
      scalar.gate_up_row(gate.matrix, up.matrix, tiles, FixedTokens(scalar, x, 192, 64).rows, 2, expected.data());
      set().gate_up_row(gate.matrix, up.matrix, tiles, FixedTokens(set(), x, 192, 64).rows, 2, got.data());
      EXPECT_TRUE(same_bits(expected, got)) << bits << " bits, " << rows << " rows";
    }
  }
}

// q has an order of its own in each set: products with rows that have one code of 1 show its numbers.
TEST_P(FixedProducts, FixedRowsHaveTheScalarScalesSumsAndNumbers) {
  std::vector<float> x = tokens(6, 384);
  const float tiny = std::numeric_limits<float>::denorm_min();
  for (size_t at = 0; at < 128; ++at) {
    x[384 + at] = tiny * static_cast<float>(at % 7 * 9000);            // a subnormal scale that rounding moves far
    x[512 + at] = at % 2 == 0 ? tiny : -tiny;                          // a scale of 0
    x[640 + at] = at == 0 ? 32512.0f : static_cast<float>(at) - 0.5f;  // ties
    x[768 + at] = -std::numeric_limits<float>::max() / static_cast<float>(1 + at);
    x[896 + at] = at % 2 == 0 ? 0.0f : -0.0f;
  }
  for (const int group : group_widths) {
    const FixedTokens expected(scalar, x, 384, group), got(set(), x, 384, group);
    EXPECT_TRUE(same_bits(expected.scale, got.scale));
    EXPECT_TRUE(same_bits(expected.sum, got.sum));
    const WeightFormat format = {WeightFormat::Kind::affine, ElementType::f32, 8, group};
    StoredMatrix stored(random, format, group, 384);  // row r: code 1 in column r of every group
    for (int64_t row = 0; row < group; ++row) {
      for (int64_t k = 0; k < 384; ++k) stored.stream[static_cast<size_t>(row * 384 + k)] = static_cast<std::byte>(k % group == row);
    }
    const TiledMatrix packed(stored.part(0, stored.rows), scalar_kernels(), 0);
    for (int64_t token = 0; token < 6; ++token) {
      const auto chosen = static_cast<int32_t>(token);
      std::vector<float> a(static_cast<size_t>(group)), b(a.size());
      scalar.multiply_fixed(packed.matrix, {0, tile_count(group)}, expected.rows, {&chosen, 1}, {a.data(), 0});
      set().multiply_fixed(packed.matrix, {0, tile_count(group)}, got.rows, {&chosen, 1}, {b.data(), 0});
      EXPECT_TRUE(same_bits(a, b)) << "groups of " << group << ", token " << token;
    }
  }
}

TEST_P(Packing, CodesAndParametersStandWhereTheLayoutSays) {
  std::mt19937 random(seed);
  for (const int bits : all_bits) {
    for (const int group : group_widths) {
      for (const ElementType element : all_elements) {
        for (int64_t rows = 1; rows <= tile_rows; ++rows) {
          const StoredMatrix stored(random, {WeightFormat::Kind::affine, element, bits, group}, rows, 3 * group);
          std::vector<std::byte> tile(static_cast<size_t>(tile_bytes(stored.format, stored.columns)), std::byte{0x5a});
          GetParam()->pack_tile(stored.part(0, rows), tile.data());
          expect_codes(stored, tile.data());
          expect_parameters(stored, tile.data());
        }
      }
    }
  }
}

TEST_P(Packing, LongRowsOfEveryWidthKeepTheirOrder) {
  std::mt19937 random(seed);
  for (const int bits : all_bits) {
    const StoredMatrix stored(random, {WeightFormat::Kind::affine, ElementType::bf16, bits, 64}, 16, 1088);
    std::vector<std::byte> tile(static_cast<size_t>(tile_bytes(stored.format, stored.columns)));
    GetParam()->pack_tile(stored.part(0, 16), tile.data());
    expect_codes(stored, tile.data());
  }
}

}  // namespace
}  // namespace lagoon
