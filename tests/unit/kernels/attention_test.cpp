// Attention: every vector set gives the bits of the scalar one, and what lies outside the places that are looked at is nothing.
#include "base/bfloat16.h"
#include "kernels/kernel_set.h"
#include "unit/kernels/kernel_cases.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lagoon {
namespace {

using namespace kernel_cases;

/// maximum, sum and values of some heads.
struct Partial {
  std::vector<float> maximum, sum, values;  // [heads], [heads], [heads][head_dim]

  Partial(int heads, int head_dim)
      : maximum(static_cast<size_t>(heads), -infinity), sum(maximum.size(), 0.0f), values(maximum.size() * static_cast<size_t>(head_dim), 0.0f) {}

  AttentionPartial view() { return {maximum.data(), sum.data(), values.data()}; }
};

/// A maximum of 0 may have either sign: nothing depends on it.
testing::AssertionResult same_partials(Partial got, Partial expected) {
  for (float& value : got.maximum) value += 0.0f;
  for (float& value : expected.maximum) value += 0.0f;
  for (const auto member : {&Partial::maximum, &Partial::sum, &Partial::values}) {
    const auto result = same_bits(got.*member, expected.*member);
    if (!result) return result;
  }
  return testing::AssertionSuccess();
}

/// One block whose every number is NaN or infinite until positions are stored.
struct Block {
  std::vector<std::byte> keys, values;
  ElementType element;
  int head_dim;

  Block(std::mt19937& random, int dimensions, ElementType type) : element(type), head_dim(dimensions) {
    keys.resize(static_cast<size_t>(key_block_elements(head_dim) * bytes_of(type)));
    values.resize(static_cast<size_t>(value_block_elements(head_dim) * bytes_of(type)));
    const auto spoil = [&](std::vector<std::byte>& bytes) {
      const float kinds[] = {not_a_number, infinity, -infinity};
      for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(bytes_of(type))) {
        const float kind = kinds[random() % 3];
        const uint16_t half = to_bfloat16(kind).bits;
        std::memcpy(bytes.data() + at, type == ElementType::f32 ? static_cast<const void*>(&kind) : &half, static_cast<size_t>(bytes_of(type)));
      }
    };
    spoil(keys);
    spoil(values);
  }

  void store(int place, const std::vector<float>& key, const std::vector<float>& value) {
    store_key_value(key.data(), value.data(), head_dim, place, element, keys.data(), values.data());
  }

  KeyValueBlock part(int begin, int end) const { return {keys.data(), values.data(), nullptr, element, begin, end}; }
};

class Attention : public SetCase {
 protected:
  Block filled(int head_dim, int begin, int end, ElementType element = ElementType::bf16) {
    Block block(random, head_dim, element);
    for (int place = begin; place < end; ++place) block.store(place, normal(head_dim), normal(head_dim));
    return block;
  }

  /// Both sets attend over the block, beginning with what `before` holds.
  void expect_same(const std::vector<float>& queries, const KeyValueBlock& block, int heads, int head_dim, float score_scale, const Partial& before) {
    Partial got = before;
    Partial expected = before;
    set().attend_block(queries.data(), heads, head_dim, score_scale, block, got.view());
    scalar.attend_block(queries.data(), heads, head_dim, score_scale, block, expected.view());
    EXPECT_TRUE(same_partials(got, expected)) << heads << " heads of " << head_dim << ", places " << block.begin << " to " << block.end;
  }

  Partial some_partial(int heads, int head_dim) {
    Partial partial(heads, head_dim);
    partial.maximum = normal(heads);
    for (float& sum : partial.sum) sum = 1.0f + std::fabs(normal(1)[0]);
    partial.values = normal(int64_t{heads} * head_dim);
    return partial;
  }
};

INSTANTIATE_TEST_SUITE_P(Machine, Attention, testing::ValuesIn(vector_sets()), set_name);

constexpr int head_dims[] = {4, 16, 24, 32, 40, 64, 96, 128, 160};
constexpr std::pair<int, int> places[] = {{0, 128}, {0, 1}, {5, 6}, {127, 128}, {31, 33}, {15, 17}, {16, 32}, {0, 17}, {33, 90}, {64, 128}, {1, 127}};

TEST_P(Attention, EveryCountOfHeadsGivesTheScalarBits) {
  for (const int head_dim : head_dims) {
    for (int heads = 1; heads <= 17; ++heads) {
      const auto [begin, end] = places[random() % std::size(places)];
      const Block block = filled(head_dim, begin, end);
      expect_same(normal(heads * head_dim), block.part(begin, end), heads, head_dim, 0.3f, some_partial(heads, head_dim));
    }
  }
}

TEST_P(Attention, EveryRangeOfPlacesGivesTheScalarBitsWhateverLiesOutside) {
  for (const int head_dim : head_dims) {
    for (const auto& [begin, end] : places) {
      const int heads = 1 + static_cast<int>(random() % 9);
      const Block block = filled(head_dim, begin, end);
      const Partial empty(heads, head_dim);
      Partial partial = empty;

      expect_same(normal(heads * head_dim), block.part(begin, end), heads, head_dim, 0.2f, empty);

      set().attend_block(normal(heads * head_dim).data(), heads, head_dim, 0.2f, block.part(begin, end), partial.view());
      for (const float value : partial.values) ASSERT_TRUE(std::isfinite(value)) << begin << " to " << end;
    }
  }
}

TEST_P(Attention, OraclePrecisionGivesTheScalarBits) {
  const Block block = filled(24, 3, 77, ElementType::f32);
  expect_same(normal(5 * 24), block.part(3, 77), 5, 24, 0.2f, some_partial(5, 24));
}

TEST_P(Attention, LargeScoresAndWhatIsNotFiniteGiveTheScalarBits) {
  const std::vector<float> kinds = {0.0f, -0.0f, 1e-30f, -1e-30f, 300.0f, -300.0f, 3e38f, infinity, -infinity, not_a_number};
  const int head_dim = 48;
  const int heads = 7;
  for (int turn = 0; turn < 60; ++turn) {
    Block block = filled(head_dim, 2, 100);
    // At the first place, at others, among the queries, in what came before; each alone and together.
    const auto number = [&] { return kinds[random() % kinds.size()]; };
    std::vector<float> queries = normal(heads * head_dim);
    Partial before = some_partial(heads, head_dim);
    for (const int place : {2, 3, 50, 99}) {
      std::vector<float> key = normal(head_dim);
      std::vector<float> value = normal(head_dim);
      if (random() % 3 == 0) key[random() % key.size()] = number();
      if (random() % 3 == 0) value[random() % value.size()] = number();
      block.store(place, key, value);
    }
    if (random() % 2 == 0) queries[random() % queries.size()] = number();
    if (random() % 2 == 0) before.maximum[random() % before.maximum.size()] = number();
    if (random() % 4 == 0) before.sum[random() % before.sum.size()] = number();
    expect_same(queries, block.part(2, 100), heads, head_dim, turn % 2 == 0 ? 0.15f : 40.0f, before);
  }
}

TEST_P(Attention, MergingAndFinishingGiveTheScalarBits) {
  for (const int head_dim : head_dims) {
    for (int heads = 1; heads <= 18; ++heads) {
      Partial later = some_partial(heads, head_dim);
      Partial got = heads % 5 == 0 ? Partial(heads, head_dim) : some_partial(heads, head_dim);
      if (heads % 4 == 0) later = Partial(heads, head_dim);  // nothing was seen: both -infinity now and then
      Partial expected = got;

      set().merge_attention(later.view(), heads, head_dim, got.view());
      scalar.merge_attention(later.view(), heads, head_dim, expected.view());
      EXPECT_TRUE(same_partials(got, expected)) << heads << " heads of " << head_dim;

      std::vector<float> out(got.values.size(), canary);
      std::vector<float> expected_out = out;
      set().finish_attention(got.view(), heads, head_dim, out.data());
      scalar.finish_attention(expected.view(), heads, head_dim, expected_out.data());
      EXPECT_TRUE(same_bits(out, expected_out));
    }
  }
}

}  // namespace
}  // namespace lagoon
