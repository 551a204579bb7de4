// Every kernel of every set that this machine runs, against plain double arithmetic. Shapes are odd on purpose.
#include "base/bfloat16.h"
#include "kernels/canonical_math.h"
#include "kernels/kernel_set.h"
#include "unit/kernels/kernel_cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace lagoon {
namespace {

using namespace kernel_cases;

class Kernels : public SetCase {};

INSTANTIATE_TEST_SUITE_P(Machine, Kernels, testing::ValuesIn(all_sets()), set_name);

/// A random affine matrix and what it means, in double.
struct AffineCase {
  std::vector<uint32_t> words;
  std::vector<uint16_t> scales, biases;  // bf16
  std::vector<double> meaning;           // [rows][columns]
  StoredRows stored;

  AffineCase(std::mt19937& random, int bits, int group, int64_t rows, int64_t columns) {
    words.assign(static_cast<size_t>(rows * columns * bits / 32), 0);
    const int64_t row_words = columns * bits / 32;
    std::normal_distribution<float> normal;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t k = 0; k < columns; ++k) {
        if (k % group == 0) {
          scales.push_back(to_bfloat16(normal(random)).bits);
          biases.push_back(to_bfloat16(normal(random)).bits);
        }
        const uint32_t code = static_cast<uint32_t>(random()) & ((1u << bits) - 1);
        // bit by bit, unlike the reader
        for (int bit = 0; bit < bits; ++bit) {
          const int64_t at = k * bits + bit;
          words[static_cast<size_t>(row * row_words + at / 32)] |= ((code >> bit) & 1u) << (at % 32);
        }
        meaning.push_back(static_cast<double>(to_float(Bfloat16{scales.back()})) * code + static_cast<double>(to_float(Bfloat16{biases.back()})));
      }
    }
    stored = {.format = {WeightFormat::Kind::affine, ElementType::bf16, bits, group},
              .rows = rows,
              .columns = columns,
              .values = reinterpret_cast<const std::byte*>(words.data()),
              .scales = reinterpret_cast<const std::byte*>(scales.data()),
              .biases = reinterpret_cast<const std::byte*>(biases.data())};
  }
};

/// The numbers that the scalar set's fixed point stands for; other sets may keep q in another order.
double meaning_of(const FixedTokens& tokens, size_t at) {
  return static_cast<double>(tokens.scale[at / static_cast<size_t>(tokens.rows.group)]) * tokens.q[at];
}

TEST_P(Kernels, FixedPointIsWithinHalfAStepAndInRange) {
  for (const int group : {32, 64, 128}) {
    const std::vector<float> x = normal(3 * group);
    const FixedTokens reference(scalar, x, 3 * group, group);
    const FixedTokens fixed(set(), x, 3 * group, group);
    for (size_t at = 0; at < x.size(); ++at) {
      ASSERT_LE(std::abs(reference.q[at]), 32512);
      ASSERT_NEAR(meaning_of(reference, at), x[at], 0.5001 * static_cast<double>(reference.scale[at / static_cast<size_t>(group)]));
    }
    for (size_t g = 0; g < 3; ++g) {
      int total = 0;
      for (size_t at = g * static_cast<size_t>(group); at < (g + 1) * static_cast<size_t>(group); ++at) total += reference.q[at];
      EXPECT_EQ(fixed.sum[g], fixed.scale[g] * static_cast<float>(total));
    }
  }
}

TEST_P(Kernels, FixedPointKeepsTheLargestExact) {
  std::vector<float> x(32, 0.0f);
  x[0] = -32512.0f;  // the scale becomes 1

  const FixedTokens fixed(set(), x, 32, 32);

  EXPECT_EQ(fixed.scale[0], 1.0f);
  EXPECT_EQ(fixed.sum[0], -32512.0f);
}

TEST(ScalarKernels, FixedPointRoundsTiesToEven) {
  std::vector<float> x(32, 0.0f);
  x[0] = -32512.0f;
  x[1] = 0.5f;
  x[2] = 1.5f;
  x[3] = -2.5f;

  const FixedTokens fixed(scalar_kernels(), x, 32, 32);

  EXPECT_EQ(fixed.q[0], -32512);
  EXPECT_EQ(fixed.q[1], 0);
  EXPECT_EQ(fixed.q[2], 2);
  EXPECT_EQ(fixed.q[3], -2);
}

TEST_P(Kernels, FixedPointOfZerosSubnormalsAndWhatIsNotFinite) {
  std::vector<float> x(96, 0.0f);
  for (size_t at = 32; at < 64; ++at) x[at] = smallest;
  x[70] = infinity;

  const FixedTokens fixed(set(), x, 96, 32);

  EXPECT_EQ(fixed.scale[0], 0.0f);
  EXPECT_EQ(fixed.sum[0], 0.0f);
  EXPECT_TRUE(std::isfinite(fixed.sum[1]));
  EXPECT_TRUE(std::isnan(fixed.scale[2]));
  EXPECT_TRUE(std::isnan(fixed.sum[2]));
}

TEST_P(Kernels, FixedProductsEqualTheFormulaForEveryWidthAndGroup) {
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    for (const int group : {32, 64, 128}) {
      const int64_t rows = 19;
      const int64_t columns = 3 * group;
      const int64_t tokens = 5;
      const AffineCase weights(random, bits, group, rows, columns);
      const TiledMatrix tiled(weights.stored);
      const std::vector<float> x = normal(tokens * columns);
      const FixedTokens fixed(set(), x, columns, group);
      const FixedTokens reference(scalar, x, columns, group);
      std::vector<float> y(static_cast<size_t>(tokens * rows), -1.0f);

      set().multiply_fixed(tiled.matrix, tiled.all(), fixed.rows, {nullptr, tokens}, {y.data(), rows});

      for (int64_t token = 0; token < tokens; ++token) {
        for (int64_t row = 0; row < rows; ++row) {
          double exact = 0.0;
          double magnitude = 0.0;
          for (int64_t k = 0; k < columns; ++k) {
            const double term =
                weights.meaning[static_cast<size_t>(row * columns + k)] * meaning_of(reference, static_cast<size_t>(token * columns + k));
            exact += term;
            magnitude += std::fabs(term);
          }
          // scale * code and bias parts are summed apart and can cancel: their sizes bound the rounding
          ASSERT_NEAR(y[static_cast<size_t>(token * rows + row)], exact, 4e-6 * (magnitude + 1.0) * (1 << (bits / 2)))
              << "bits " << bits << " group " << group;
        }
      }
    }
  }
}

TEST_P(Kernels, AProductWritesItsTilesAloneAndFollowsTheSelection) {
  const AffineCase weights(random, 4, 32, 40, 64);
  const TiledMatrix tiled(weights.stored);
  const FixedTokens x(set(), normal(4 * 64), 64, 32);
  std::vector<float> all(4 * 40);
  set().multiply_fixed(tiled.matrix, tiled.all(), x.rows, {nullptr, 4}, {all.data(), 40});
  const std::vector<int32_t> index = {3, 1};
  std::vector<float> some(2 * 40, canary);

  set().multiply_fixed(tiled.matrix, {1, 2}, x.rows, {index.data(), 2}, {some.data(), 40});

  for (size_t row = 0; row < 40; ++row) {
    const bool mine = row >= 16 && row < 32;
    EXPECT_EQ(some[row], mine ? all[120 + row] : canary);
    EXPECT_EQ(some[40 + row], mine ? all[40 + row] : canary);
  }
}

TEST_P(Kernels, FloatProductsOfPlainWeightsKeepTheirValues) {
  const int64_t rows = 7;
  const int64_t columns = 1100;  // no multiple of a lane or a stretch
  const int64_t tokens = 11;
  const std::vector<float> source = normal(rows * columns);
  const std::vector<float> x = normal(tokens * columns);
  std::vector<uint16_t> halves;
  for (const float value : source) halves.push_back(to_bfloat16(value).bits);
  for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::f16}) {
    if (type == ElementType::f16) {
      for (uint16_t& half : halves) half = static_cast<uint16_t>(random() & 0xbbffu);  // finite halves of every sign
    }
    const void* values = type == ElementType::f32 ? static_cast<const void*>(source.data()) : halves.data();
    const TiledMatrix tiled({.format = {.kind = WeightFormat::Kind::plain, .element = type},
                             .rows = rows,
                             .columns = columns,
                             .values = static_cast<const std::byte*>(values)});
    std::vector<float> y(static_cast<size_t>(tokens * rows));

    set().multiply_float(tiled.matrix, tiled.all(), {x.data(), columns}, {nullptr, tokens}, {y.data(), rows});

    for (int64_t token = 0; token < tokens; ++token) {
      for (int64_t row = 0; row < rows; ++row) {
        double exact = 0.0;
        double magnitude = 0.0;
        for (int64_t k = 0; k < columns; ++k) {
          const auto at = static_cast<size_t>(row * columns + k);
          const float weight = type == ElementType::f32    ? source[at]
                               : type == ElementType::bf16 ? to_float(Bfloat16{halves[at]})
                                                           : to_float(Float16{halves[at]});
          const double term = static_cast<double>(weight) * static_cast<double>(x[static_cast<size_t>(token * columns + k)]);
          exact += term;
          magnitude += std::fabs(term);
        }
        ASSERT_NEAR(y[static_cast<size_t>(token * rows + row)], exact, 1e-6 * magnitude);
      }
    }
  }
}

// 2^24 + 1 is no float: in lane order the ones meet each other before they meet the large number, elsewhere they are lost.
TEST_P(Kernels, FloatProductsAddInTheCanonicalOrder) {
  const std::vector<float> ones(64, 1.0f);
  const auto product = [&](const std::vector<float>& weights) {
    const TiledMatrix tiled({.format = {.kind = WeightFormat::Kind::plain, .element = ElementType::f32},
                             .rows = 1,
                             .columns = 64,
                             .values = reinterpret_cast<const std::byte*>(weights.data())});
    float y = 0.0f;
    set().multiply_float(tiled.matrix, tiled.all(), {ones.data(), 64}, {nullptr, 1}, {&y, 1});
    return y;
  };
  std::vector<float> weights(64, 0.0f);
  weights[0] = 0x1p24f;  // lane 0
  weights[17] = 1.0f;    // lane 1
  weights[33] = 1.0f;    // lane 1
  EXPECT_EQ(product(weights), 0x1p24f + 2.0f);

  weights[33] = 0.0f;
  weights[32] = 1.0f;  // lane 0: lost at once
  EXPECT_EQ(product(weights), 0x1p24f);
}

TEST_P(Kernels, OracleProductsOfAffineWeightsDequantize) {
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    const AffineCase weights(random, bits, 64, 5, 640);
    const TiledMatrix tiled(weights.stored);
    const std::vector<float> x = normal(640);
    std::vector<float> y(5);

    set().multiply_float(tiled.matrix, tiled.all(), {x.data(), 640}, {nullptr, 1}, {y.data(), 5});

    for (size_t row = 0; row < 5; ++row) {
      double exact = 0.0;
      double magnitude = 0.0;
      for (size_t k = 0; k < 640; ++k) {
        exact += weights.meaning[row * 640 + k] * static_cast<double>(x[k]);
        magnitude += std::fabs(weights.meaning[row * 640 + k] * static_cast<double>(x[k]));
      }
      ASSERT_NEAR(y[row], exact, 1e-6 * magnitude);
    }
  }
}

TEST_P(Kernels, ReadRowDequantizesOneRow) {
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    const AffineCase weights(random, bits, 32, 20, 96);
    const TiledMatrix tiled(weights.stored);
    for (const size_t row : {0u, 2u, 15u, 17u}) {
      std::vector<float> values(96);
      set().read_row(tiled.matrix, static_cast<int64_t>(row), values.data());
      for (size_t k = 0; k < 96; ++k) {
        const double meaning = weights.meaning[row * 96 + k];
        ASSERT_NEAR(values[k], meaning, 1e-6 * (1.0 + std::fabs(meaning)) * 4);
      }
    }
  }
}

TEST_P(Kernels, NormRotationAndGatesEqualTheirFormulas) {
  const std::vector<float> x = normal(37);
  const std::vector<float> weight = normal(37);
  double squares = 0.0;
  for (const float value : x) squares += static_cast<double>(value) * static_cast<double>(value);
  std::vector<float> y(37);
  set().rms_norm(x.data(), weight.data(), 37, 1e-6f, y.data());
  for (size_t at = 0; at < 37; ++at)
    ASSERT_NEAR(y[at], static_cast<double>(x[at]) * static_cast<double>(weight[at]) / std::sqrt(squares / 37 + 1e-6), 2e-6);

  std::vector<float> head = {1.0f, 2.0f, 3.0f, 4.0f, 9.0f};  // two pairs, the last passes through
  const std::vector<float> cosine = {0.0f, 0.6f};
  const std::vector<float> sine = {1.0f, 0.8f};
  set().rotate(head.data(), cosine.data(), sine.data(), 2);
  const std::vector<float> rotated = {-3.0f, 2.0f * 0.6f - 4.0f * 0.8f, 1.0f, 4.0f * 0.6f + 2.0f * 0.8f, 9.0f};
  EXPECT_EQ(head, rotated);

  std::vector<float> gated = {1.0f, -2.0f};
  set().gate_head(0.0f, gated.data(), 2);
  EXPECT_NEAR(gated[1], -2.0 * std::log(2.0), 1e-6);
  const std::vector<float> gates = {30.0f, -1.0f};
  std::vector<float> elements = {2.0f, 3.0f};
  set().gate_elements(gates.data(), elements.data(), 2);
  EXPECT_EQ(elements[0], 60.0f);
  EXPECT_NEAR(elements[1], 3.0 * std::log1p(std::exp(-1.0)), 1e-6);

  std::vector<float> gate = {1.5f, -40.0f, 0.0f};
  const std::vector<float> up = {2.0f, 1.0f, 5.0f};
  set().silu_multiply(gate.data(), up.data(), 3);
  EXPECT_NEAR(gate[0], 3.0 / (1.0 + std::exp(-1.5)), 1e-6);
  EXPECT_NEAR(gate[1], 0.0, 1e-15);
  EXPECT_EQ(gate[2], 0.0f);

  std::vector<float> scores = {0.0f, 3.0f};
  set().router_scores(scores.data(), 2, 2.0f);
  EXPECT_EQ(scores[0], 0.5f);
  EXPECT_NEAR(scores[1], 1.0 / (1.0 + std::exp(-2.0 * std::tanh(1.5))), 1e-6);
}

TEST_P(Kernels, AttentionOverBlocksIsASoftmaxOverAllKeys) {
  const int head_dim = 20;
  const int heads = 3;
  const int keys = 300;  // two whole blocks and a part
  const std::vector<float> queries = normal(heads * head_dim);
  std::vector<float> key = normal(keys * head_dim);
  std::vector<float> value = normal(keys * head_dim);
  for (const ElementType type : {ElementType::f32, ElementType::bf16}) {
    const auto key_bytes = static_cast<size_t>(key_block_elements(head_dim) * bytes_of(type));
    const auto value_bytes = static_cast<size_t>(value_block_elements(head_dim) * bytes_of(type));
    std::vector<std::byte> stored_keys(3 * key_bytes);
    std::vector<std::byte> stored_values(3 * value_bytes);
    for (int j = 0; j < keys; ++j) {
      const auto block = static_cast<size_t>(j / attention_block);
      store_key_value(key.data() + j * head_dim, value.data() + j * head_dim, head_dim, j % attention_block, type,
                      stored_keys.data() + block * key_bytes, stored_values.data() + block * value_bytes);
    }
    if (type == ElementType::bf16) {
      for (float& number : key) number = to_float(to_bfloat16(number));
      for (float& number : value) number = to_float(to_bfloat16(number));
    }
    std::vector<float> maximum(heads, -infinity);
    std::vector<float> sum(heads, 0.0f);
    std::vector<float> out(queries.size(), 0.0f);
    const AttentionPartial partial = {maximum.data(), sum.data(), out.data()};

    for (int block = 0; block < 3; ++block) {
      const KeyValueBlock part = {stored_keys.data() + static_cast<size_t>(block) * key_bytes,
                                  stored_values.data() + static_cast<size_t>(block) * value_bytes,
                                  nullptr,
                                  type,
                                  0,
                                  std::min(attention_block, keys - block * attention_block)};
      set().attend_block(queries.data(), heads, head_dim, 0.7f, part, partial);
    }
    set().finish_attention(partial, heads, head_dim, out.data());

    for (int head = 0; head < heads; ++head) {
      std::vector<double> weights;
      double total = 0.0;
      for (int j = 0; j < keys; ++j) {
        double score = 0.0;
        for (int d = 0; d < head_dim; ++d) {
          score += static_cast<double>(queries[static_cast<size_t>(head * head_dim + d)]) *
                   static_cast<double>(key[static_cast<size_t>(j * head_dim + d)]);
        }
        weights.push_back(std::exp(static_cast<double>(0.7f) * score));
        total += weights.back();
      }
      for (int d = 0; d < head_dim; ++d) {
        double exact = 0.0;
        for (int j = 0; j < keys; ++j)
          exact += weights[static_cast<size_t>(j)] / total * static_cast<double>(value[static_cast<size_t>(j * head_dim + d)]);
        ASSERT_NEAR(out[static_cast<size_t>(head * head_dim + d)], exact, 3e-6);
      }
    }
  }
}

TEST(CanonicalMath, AgreesWithTheCLibraryOverTheWholeRange) {
  for (float x = -87.0f; x < 88.7f; x += 0.0137f)
    ASSERT_NEAR(static_cast<double>(canonical_exp(x)) / std::exp(static_cast<double>(x)), 1.0, 1.5e-7) << x;
  for (float x = -80.0f; x < 80.0f; x += 0.0137f) {
    const double exact = static_cast<double>(x);
    ASSERT_NEAR(canonical_sigmoid(x) * (1.0 + std::exp(-exact)), 1.0, 4e-7) << x;
    ASSERT_NEAR(canonical_softplus(x) / (std::max(exact, 0.0) + std::log1p(std::exp(-std::fabs(exact)))), 1.0, 4e-7) << x;
    ASSERT_NEAR(canonical_tanh(x), std::tanh(exact), 2e-7) << x;
  }
}

TEST(CanonicalMath, TheEndsOfTheRange) {
  EXPECT_EQ(canonical_exp(0.0f), 1.0f);
  EXPECT_EQ(canonical_exp(-infinity), 0.0f);
  EXPECT_EQ(canonical_exp(infinity), infinity);
  EXPECT_TRUE(std::isnan(canonical_exp(not_a_number)));
  EXPECT_EQ(canonical_softplus(25.0f), 25.0f);
  EXPECT_EQ(canonical_softplus(-infinity), 0.0f);
  EXPECT_EQ(canonical_sigmoid(-infinity), 0.0f);
  EXPECT_EQ(canonical_sigmoid(infinity), 1.0f);
}

TEST(CanonicalMath, LanesAreReducedPairwise) {
  float lanes[lane_count] = {};
  lanes[0] = 0x1p24f;
  lanes[8] = 1.0f;  // meets lane 0 first and is lost
  lanes[4] = 1.0f;
  lanes[12] = 1.0f;  // meets lane 4 first: 2 survives
  EXPECT_EQ(reduce_lanes(lanes), 0x1p24f + 2.0f);
}

}  // namespace
}  // namespace lagoon
