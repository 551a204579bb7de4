// The functions that go element by element: every vector set gives the bits of the scalar one, at every count and for every
// kind of number.
#include "kernels/kernel_set.h"
#include "unit/kernels/kernel_cases.h"

#include <gtest/gtest.h>

#include <functional>

namespace lagoon {
namespace {

using namespace kernel_cases;

class Elementwise : public SetCase {
 protected:
  using Numbers = std::vector<float>;
  /// Works on `count` numbers of y, reading as many of a and b.
  using Function = std::function<void(const KernelSet&, const Numbers& a, const Numbers& b, int64_t count, Numbers& y)>;

  /// Runs both sets on the first `count` numbers and compares all, so that those behind are seen to stay.
  void expect_same(const Function& function, const Numbers& a, const Numbers& b, int64_t count) {
    Numbers got = b;
    Numbers expected = b;
    function(set(), a, b, count, got);
    function(scalar, a, b, count, expected);
    EXPECT_TRUE(same_bits(got, expected)) << "count " << count;
  }
};

INSTANTIATE_TEST_SUITE_P(Machine, Elementwise, testing::ValuesIn(vector_sets()), set_name);

using Numbers = std::vector<float>;

const std::vector<std::function<void(const KernelSet&, const Numbers&, const Numbers&, int64_t, Numbers&)>> functions = {
    [](const KernelSet& set, const Numbers& a, const Numbers& b, int64_t count, Numbers& y) {
      set.rms_norm(a.data(), b.data(), count, 1e-6f, y.data());
    },
    [](const KernelSet& set, const Numbers& a, const Numbers&, int64_t count, Numbers& y) {
      set.rms_norm(y.data(), a.data(), count, 1e-6f, y.data());
    },
    [](const KernelSet& set, const Numbers& a, const Numbers& b, int64_t count, Numbers& y) { set.rotate(y.data(), a.data(), b.data(), count / 2); },
    [](const KernelSet& set, const Numbers& a, const Numbers&, int64_t count, Numbers& y) { set.silu_multiply(y.data(), a.data(), count); },
    [](const KernelSet& set, const Numbers& a, const Numbers&, int64_t count, Numbers& y) { set.gate_head(a[0], y.data(), count); },
    [](const KernelSet& set, const Numbers& a, const Numbers&, int64_t count, Numbers& y) { set.gate_elements(a.data(), y.data(), count); },
    [](const KernelSet& set, const Numbers&, const Numbers&, int64_t count, Numbers& y) { set.router_scores(y.data(), count, 0.0f); },
    [](const KernelSet& set, const Numbers&, const Numbers&, int64_t count, Numbers& y) { set.router_scores(y.data(), count, 2.5f); },
    [](const KernelSet& set, const Numbers& a, const Numbers&, int64_t count, Numbers& y) { set.add_scaled(a[0], a.data(), y.data(), count); },
    [](const KernelSet& set, const Numbers& a, const Numbers&, int64_t count, Numbers& y) { set.add(a.data(), y.data(), count); },
    [](const KernelSet& set, const Numbers& a, const Numbers&, int64_t count, Numbers& y) { set.scale(a[0], y.data(), count); },
};

TEST_P(Elementwise, EveryCountGivesTheScalarBits) {
  for (const auto& function : functions) {
    for (const int64_t count : {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 64, 100, 1003})
      expect_same(function, normal(1100), normal(1100), count);
  }
}

TEST_P(Elementwise, EveryKindOfNumberGivesTheScalarBits) {
  Numbers kinds = {0.0f,  -0.0f,  smallest, -smallest, 1e-39f,  -1e-39f, 1.2e-38f, 1e-20f,  0.5f,   -0.5f,    1.0f,      -1.0f,
                   1e-8f, -1e-8f, 19.0f,    103.9f,    -103.9f, 1e10f,   -1e10f,   3.4e38f, -3e38f, infinity, -infinity, not_a_number};
  for (const float border : {20.0f, 87.3f, -87.3f, 88.7f, -88.7f}) {
    for (const float number : {std::nextafter(border, -infinity), border, std::nextafter(border, infinity)}) kinds.push_back(number);
  }
  for (const auto& function : functions) {
    for (int turn = 0; turn < 100; ++turn) {
      Numbers a(37);
      Numbers b(37);
      for (float& number : a) number = kinds[random() % kinds.size()];
      for (float& number : b) number = kinds[random() % kinds.size()];
      expect_same(function, a, b, 37);
    }
  }
}

/// 2^20 numbers: half of all bit patterns, half where the functions are neither 0 nor infinite.
std::vector<float> million(std::mt19937& random) {
  std::vector<float> numbers(1 << 20);
  std::uniform_real_distribution<float> uniform(-100.0f, 100.0f);
  for (size_t at = 0; at < numbers.size(); ++at) numbers[at] = at % 2 == 0 ? std::bit_cast<float>(static_cast<uint32_t>(random())) : uniform(random);
  return numbers;
}

TEST_P(Elementwise, AMillionGatesGiveTheScalarBits) {
  const Numbers ones(1 << 20, 1.0f);
  const auto gates = [](const KernelSet& set, const Numbers& a, const Numbers&, int64_t count, Numbers& y) {
    set.gate_elements(a.data(), y.data(), count);  // softplus(a)
  };
  const auto activations = [](const KernelSet& set, const Numbers& a, const Numbers&, int64_t count, Numbers& y) {
    set.silu_multiply(y.data(), a.data(), count);  // silu(y)
  };
  const auto scores = [](const KernelSet& set, const Numbers&, const Numbers&, int64_t count, Numbers& y) {
    set.router_scores(y.data(), count, 0.0f);
  };
  const auto capped = [](const KernelSet& set, const Numbers&, const Numbers&, int64_t count, Numbers& y) {
    set.router_scores(y.data(), count, 30.0f);
  };

  expect_same(gates, million(random), ones, 1 << 20);
  expect_same(activations, ones, million(random), 1 << 20);
  expect_same(scores, ones, million(random), 1 << 20);
  expect_same(capped, ones, million(random), 1 << 20);
}

}  // namespace
}  // namespace lagoon
