// Products with plain weights: every vector set gives the bits of the scalar one, whatever the shape.
#include "base/bfloat16.h"
#include "kernels/kernel_set.h"
#include "kernels/peak_probes.h"
#include "unit/kernels/kernel_cases.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace lagoon {
namespace {

using namespace kernel_cases;

class FloatProducts : public SetCase {
 protected:
  /// [rows][columns] of a type; halves are of every kind but infinity and NaN, subnormal ones included.
  std::vector<std::byte> weights(ElementType element, int64_t rows, int64_t columns) {
    const auto size = static_cast<size_t>(bytes_of(element));
    std::vector<std::byte> stored(static_cast<size_t>(rows * columns) * size);
    const std::vector<float> numbers = normal(rows * columns);
    for (size_t at = 0; at < numbers.size(); ++at) {
      const uint16_t half =
          element == ElementType::bf16 ? to_bfloat16(numbers[at]).bits : static_cast<uint16_t>(random() % 0x7c00u | (random() % 2) << 15);
      std::memcpy(stored.data() + at * size, element == ElementType::f32 ? static_cast<const void*>(&numbers[at]) : &half, size);
    }
    return stored;
  }

  struct Shape {
    ElementType element;
    int64_t rows, columns, tokens;
  };

  void expect_same(const Shape& shape) {
    const std::vector<std::byte> stored = weights(shape.element, shape.rows, shape.columns);
    const TiledMatrix tiled({.format = {.kind = WeightFormat::Kind::plain, .element = shape.element},
                             .rows = shape.rows,
                             .columns = shape.columns,
                             .values = stored.data()});
    const int64_t stride = shape.columns + 3;
    const std::vector<float> x = normal(shape.tokens * stride);
    std::vector<int32_t> index;  // with repeats
    for (int64_t i = 0; i < shape.tokens; ++i) index.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(shape.tokens)));
    std::vector<float> got(static_cast<size_t>(shape.tokens * (shape.rows + 5)), canary);
    std::vector<float> expected = got;
    const RowSelection selection = {random() % 2 == 0 ? index.data() : nullptr, shape.tokens};
    const TileRange tiles = {tile_count(shape.rows) > 2 ? 1 : 0, tile_count(shape.rows)};

    set().multiply_float(tiled.matrix, tiles, {x.data(), stride}, selection, {got.data(), shape.rows + 5});
    scalar.multiply_float(tiled.matrix, tiles, {x.data(), stride}, selection, {expected.data(), shape.rows + 5});

    EXPECT_TRUE(same_bits(got, expected)) << "rows " << shape.rows << " columns " << shape.columns << " tokens " << shape.tokens;
  }
};

INSTANTIATE_TEST_SUITE_P(Machine, FloatProducts, testing::ValuesIn(vector_sets()), set_name);

constexpr ElementType all_elements[] = {ElementType::bf16, ElementType::f16, ElementType::f32};

TEST_P(FloatProducts, EveryCountOfColumnsGivesTheScalarBits) {
  for (const ElementType element : all_elements) {
    for (const int64_t columns : {1, 15, 16, 17, 32, 100, 255, 256, 257, 272, 511, 512, 1040}) {
      for (const int64_t tokens : {1, 4}) expect_same({element, 20, columns, tokens});
    }
  }
}

TEST_P(FloatProducts, EveryCountOfRowsAndTokensGivesTheScalarBits) {
  for (const ElementType element : all_elements) {
    for (const int64_t rows : {1, 2, 15, 16, 17, 33, 70}) {
      for (const int64_t tokens : {1, 2, 3, 5, 6, 7, 12, 13}) expect_same({element, rows, 83, tokens});
    }
    expect_same({element, 17, 300, 48});
    expect_same({element, 17, 300, 49});
    expect_same({element, 17, 300, 97});
  }
}

TEST_P(FloatProducts, NoTokensAreNothing) { expect_same({ElementType::bf16, 16, 16, 0}); }

// A product that underflows is -0; a lane that adds 0 beyond the last column would turn it into 0.
TEST_P(FloatProducts, LanesBeyondTheLastColumnKeepTheirSign) {
  const std::vector<float> stored(16 * 21, -1e-30f);
  const std::vector<float> x(3 * 21, 1e-30f);
  const TiledMatrix tiled({.format = {.kind = WeightFormat::Kind::plain, .element = ElementType::f32},
                           .rows = 16,
                           .columns = 21,
                           .values = reinterpret_cast<const std::byte*>(stored.data())});
  for (const int64_t tokens : {1, 3}) {
    std::vector<float> got(static_cast<size_t>(tokens) * 16, canary);
    std::vector<float> expected = got;
    set().multiply_float(tiled.matrix, {0, 1}, {x.data(), 21}, {nullptr, tokens}, {got.data(), 16});
    scalar.multiply_float(tiled.matrix, {0, 1}, {x.data(), 21}, {nullptr, tokens}, {expected.data(), 16});
    EXPECT_TRUE(same_bits(got, expected));
    EXPECT_TRUE(std::signbit(expected[0]));
  }
}

TEST_P(FloatProducts, WhatIsNotFiniteShowsAsInTheScalarSet) {
  std::vector<float> stored = normal(20 * 50);
  std::vector<float> x = normal(4 * 50);
  stored[49] = not_a_number;
  stored[3 * 50 + 7] = infinity;
  stored[19 * 50] = -infinity;
  x[50 + 49] = infinity;
  x[3 * 50] = not_a_number;
  const TiledMatrix tiled({.format = {.kind = WeightFormat::Kind::plain, .element = ElementType::f32},
                           .rows = 20,
                           .columns = 50,
                           .values = reinterpret_cast<const std::byte*>(stored.data())});
  std::vector<float> got(80);
  std::vector<float> expected(80);
  set().multiply_float(tiled.matrix, tiled.all(), {x.data(), 50}, {nullptr, 4}, {got.data(), 20});
  scalar.multiply_float(tiled.matrix, tiled.all(), {x.data(), 50}, {nullptr, 4}, {expected.data(), 20});
  EXPECT_TRUE(same_bits(got, expected));
}

TEST_P(FloatProducts, RowsAreReadAsTheScalarSetReadsThem) {
  for (const ElementType element : all_elements) {
    for (const int64_t columns : {1, 16, 40, 100}) {
      const std::vector<std::byte> stored = weights(element, 35, columns);
      const TiledMatrix tiled(
          {.format = {.kind = WeightFormat::Kind::plain, .element = element}, .rows = 35, .columns = columns, .values = stored.data()});
      for (const int64_t row : {0, 1, 15, 16, 34}) {
        std::vector<float> got(static_cast<size_t>(columns) + 4, canary);
        std::vector<float> expected = got;
        set().read_row(tiled.matrix, row, got.data());
        scalar.read_row(tiled.matrix, row, expected.data());
        EXPECT_TRUE(same_bits(got, expected));
      }
    }
  }
}

TEST(PeakProbes, EveryProbeThatASetNamesIsThere) {
  std::set<std::string> names;
  for (const PeakProbe& probe : peak_probes(detect_cpu_features())) EXPECT_TRUE(names.insert(probe.name).second) << probe.name;
  for (const KernelSet* set : all_sets()) {
    EXPECT_TRUE(names.contains(set->float_probe)) << set->float_probe;
    EXPECT_TRUE(names.contains(set->fixed_probe)) << set->fixed_probe;
  }
}

TEST(PeakProbes, TheScalarProbeIsFirstAndAloneOnAnUnknownProcessor) {
  ASSERT_EQ(peak_probes({}).size(), 1u);
  EXPECT_EQ(peak_probes({}).front().name, std::string("scalar multiply-add"));
}

TEST(PeakProbes, MultiplyAddsGrowWithTheRounds) {
  for (const PeakProbe& probe : peak_probes(detect_cpu_features())) {
    const double once = probe.run(1);
    EXPECT_GE(once, 1.0) << probe.name;
    EXPECT_EQ(probe.run(1000), 1000 * once) << probe.name;
  }
}

}  // namespace
}  // namespace lagoon
