// kernel_cases.h: what the tests of kernels share: the sets of this machine, matrices in tiles, tokens in fixed point.
#pragma once

#include "kernels/kernel_set.h"
#include "kernels/tile_layout.h"
#include "support/packed_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace lagoon::kernel_cases {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float smallest = std::numeric_limits<float>::denorm_min();
constexpr float canary = 12345.0f;

inline std::vector<const KernelSet*> all_sets() { return runnable_kernel_sets(detect_cpu_features()); }

/// Those that are compared with the scalar set.
inline std::vector<const KernelSet*> vector_sets() {
  auto sets = all_sets();
  sets.pop_back();
  return sets;
}

/// A case that runs for each set.
class SetCase : public testing::TestWithParam<const KernelSet*> {
 protected:
  const KernelSet& set() const { return *GetParam(); }
  const KernelSet& scalar = scalar_kernels();
  std::mt19937 random{20261130};

  std::vector<float> normal(int64_t count) {
    std::normal_distribution<float> distribution;
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = distribution(random);
    return values;
  }
};

inline auto set_name = [](const auto& parameter) {
  std::string name = parameter.param->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
};

/// Byte for byte, but that the payload of a NaN may differ.
inline testing::AssertionResult same_bits(std::span<const float> got, std::span<const float> expected) {
  if (got.size() != expected.size()) return testing::AssertionFailure() << got.size() << " numbers, not " << expected.size();
  for (size_t at = 0; at < got.size(); ++at) {
    if (std::isnan(got[at]) && std::isnan(expected[at])) continue;
    if (std::bit_cast<uint32_t>(got[at]) != std::bit_cast<uint32_t>(expected[at]))
      return testing::AssertionFailure() << "[" << at << "] is " << got[at] << ", not " << expected[at] << ", of " << got.size();
  }
  return testing::AssertionSuccess();
}

using TiledMatrix = testing_support::PackedMatrix;

/// Token rows in one set's fixed point.
struct FixedTokens {
  std::vector<int16_t> q;
  std::vector<float> scale, sum;
  FixedRows rows;

  FixedTokens(const KernelSet& set, const std::vector<float>& x, int64_t columns, int group)
      : q(x.size()), scale(x.size() / static_cast<size_t>(group)), sum(scale.size()), rows{q.data(), scale.data(), sum.data(), columns, group} {
    const int64_t groups = columns / group;
    for (int64_t row = 0; row < static_cast<int64_t>(x.size()) / columns; ++row) {
      set.to_fixed_row(x.data() + row * columns, columns, group, {q.data() + row * columns, scale.data() + row * groups, sum.data() + row * groups});
    }
  }
};

}  // namespace lagoon::kernel_cases
