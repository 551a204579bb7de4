// Slices of the real Laguna S 2.1 with another engine's results: tests/golden/real-s21.
#include "base/bfloat16.h"
#include "base/json.h"
#include "kernels/kernel_set.h"
#include "laguna/rotary.h"
#include "machine/file.h"
#include "support/packed_matrix.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>

namespace lagoon {
namespace {

using testing_support::PackedMatrix;

const std::string golden = LAGOON_GOLDEN_DIR "/real-s21/";

template <typename T>
std::vector<T> read_values(const std::string& name) {
  const std::string text = read_text(SystemFiles(), golden + name + ".bin", 1 << 24);
  std::vector<T> values(text.size() / sizeof(T));
  std::memcpy(values.data(), text.data(), text.size());
  return values;
}

std::vector<float> read_bfloat16(const std::string& name) {
  std::vector<float> values;
  for (const uint16_t bits : read_values<uint16_t>(name)) values.push_back(to_float(Bfloat16{bits}));
  return values;
}

TEST(RealWeights, QueryProjection) {
  const auto stored = read_values<uint16_t>("g2_w");   // [512][3072] bf16
  const auto x = read_bfloat16("g2_x");                // [6][3072]
  const auto expected = read_values<float>("g2_out");  // [6][512]
  const PackedMatrix weights({.format = {.kind = WeightFormat::Kind::plain, .element = ElementType::bf16},
                              .rows = 512,
                              .columns = 3072,
                              .values = reinterpret_cast<const std::byte*>(stored.data())});
  std::vector<float> y(6 * 512);

  const KernelSet& kernels = kernel_set_named("auto", detect_cpu_features());
  kernels.multiply_float(weights.matrix, weights.all(), {x.data(), 3072}, {nullptr, 6}, {y.data(), 512});

  ASSERT_EQ(expected.size(), y.size());
  for (size_t at = 0; at < y.size(); ++at) {
    double magnitude = 0.0;
    for (size_t k = 0; k < 3072; ++k) {
      magnitude += std::fabs(static_cast<double>(to_float(Bfloat16{stored[at % 512 * 3072 + k]})) * static_cast<double>(x[at / 512 * 3072 + k]));
    }
    ASSERT_NEAR(y[at], expected[at], 1e-6 * magnitude) << at;
  }
}

TEST(RealWeights, InputNorm) {
  const auto x = read_values<float>("g3a_x");  // [54][3072]
  const auto weight = read_bfloat16("g3a_w");  // [3072]
  const auto expected = read_values<float>("g3a_out");
  ASSERT_EQ(x.size(), 54u * 3072);
  for (size_t row = 0; row < 54; ++row) {
    std::vector<float> y(3072);
    scalar_kernels().rms_norm(x.data() + row * 3072, weight.data(), 3072, 1e-6f, y.data());
    for (size_t at = 0; at < 3072; ++at)
      ASSERT_NEAR(y[at], expected[row * 3072 + at], 2e-6 * (1.0 + std::fabs(static_cast<double>(y[at])))) << row << " " << at;
  }
}

RotaryConfig full_rotary() {
  return {.yarn = true,
          .theta = 500000.0,
          .dimensions = 64,
          .factor = 32.0,
          .original_context = 8192.0,
          .beta_fast = 32.0,
          .beta_slow = 1.0,
          .attention_factor = 1.3465735902799727};
}

RotaryConfig sliding_rotary() { return {.yarn = false, .theta = 10000.0, .dimensions = 128}; }

// The reference repeats the angles for both halves of a head. Angles are fp32, so that at position 53 a last bit of the
// frequency is worth 3e-6.
void expect_angles(const RotaryConfig& config, const std::string& cosine_name, const std::string& sine_name) {
  const Rotary rotary(config);
  const auto pairs = static_cast<size_t>(rotary.pairs());
  const auto cosine = read_values<float>(cosine_name);
  const auto sine = read_values<float>(sine_name);
  ASSERT_EQ(cosine.size(), 54 * 2 * pairs);
  for (size_t position = 0; position < 54; ++position) {
    std::vector<float> c(pairs);
    std::vector<float> s(pairs);
    rotary.angles(static_cast<int64_t>(position), c.data(), s.data());
    for (size_t at = 0; at < 2 * pairs; ++at) {
      ASSERT_NEAR(c[at % pairs], cosine[position * 2 * pairs + at], 6e-6) << position << " " << at;
      ASSERT_NEAR(s[at % pairs], sine[position * 2 * pairs + at], 6e-6) << position << " " << at;
    }
  }
}

TEST(RealWeights, AnglesOfFullLayers) { expect_angles(full_rotary(), "g3b_cos_full", "g3b_sin_full"); }

TEST(RealWeights, AnglesOfSlidingLayers) { expect_angles(sliding_rotary(), "g3b_cos_slide", "g3b_sin_slide"); }

TEST(RealWeights, FrequenciesAreTransformersFp32Frequencies) {
  const Json reference = parse_json(read_text(SystemFiles(), golden + "rope_ref.json", 1 << 16), "rope_ref.json");
  for (const auto& [kind, config] : {std::pair{"full", full_rotary()}, std::pair{"slide", sliding_rotary()}}) {
    const Rotary rotary(config);
    const auto expected = reference[kind]["inv"].get<std::vector<double>>();
    ASSERT_EQ(expected.size(), rotary.frequencies().size());
    for (size_t at = 0; at < expected.size(); ++at) EXPECT_NEAR(rotary.frequencies()[at] / expected[at], 1.0, 1.3e-7) << kind << " " << at;
  }
}

}  // namespace
}  // namespace lagoon
