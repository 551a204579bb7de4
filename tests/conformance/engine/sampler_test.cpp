// The sampler's probabilities against transformers' logits processors: tests/golden/sampler.
#include "engine/sampler.h"

#include "base/json.h"
#include "machine/file.h"
#include "support/tolerances.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lagoon {
namespace {

using namespace testing_support;

SamplingOptions options_of(const Json& parameters) {
  return {.temperature = parameters["temperature"],
          .top_k = parameters["top_k"],
          .top_p = parameters["top_p"],
          .min_p = parameters["min_p"],
          .repetition_penalty = parameters["repetition_penalty"]};
}

std::vector<double> probabilities(const Sampler& sampler, const std::vector<float>& logits) {
  std::vector<double> all(logits.size(), 0.0);
  for (const Candidate& candidate : sampler.distribution(logits)) all[static_cast<size_t>(candidate.token)] = candidate.probability;
  return all;
}

/// The reference values have nine decimals: what is below half of the last one stands there as 0.
constexpr double smallest_printed = 0.6e-9;

TEST(SamplerReference, ProbabilitiesAndKeptTokensAreTheSame) {
  const Json document = parse_json(read_text(SystemFiles(), LAGOON_GOLDEN_DIR "/sampler/sampler_cases.json", 1 << 22), "sampler_cases.json");
  const Json& cases = document["cases"];
  ASSERT_EQ(cases.size(), 160u);
  int with_ties = 0;
  for (size_t number = 0; number < cases.size(); ++number) {
    const Json& item = cases[number];
    Sampler sampler(options_of(item["parameters"]));
    sampler.see_prompt(item["history"].get<std::vector<int32_t>>());

    if (!item["has_ties"].get<bool>()) {
      EXPECT_EQ(sampler.distribution(item["logits"].get<std::vector<float>>()).size(), item["kept"].get<size_t>()) << "case " << number;
    }
    std::vector<double> actual = probabilities(sampler, item["logits"].get<std::vector<float>>());
    std::vector<double> expected = item["probabilities"].get<std::vector<double>>();

    if (item["has_ties"].get<bool>()) {  // which of equal tokens is kept is the reference's sort order, not a rule
      std::sort(actual.begin(), actual.end());
      std::sort(expected.begin(), expected.end());
      ++with_ties;
    }
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t at = 0; at < actual.size(); ++at) {
      ASSERT_TRUE(expected[at] == 0.0 || actual[at] > 0.0) << "case " << number << " token " << at << " " << item["parameters"].dump();
      ASSERT_TRUE(actual[at] < smallest_printed || expected[at] > 0.0) << "case " << number << " token " << at << " " << item["parameters"].dump();
      ASSERT_NEAR(actual[at], expected[at], probability) << "case " << number << " token " << at << " " << item["parameters"].dump();
    }
  }
  EXPECT_GT(with_ties, 0);
  EXPECT_LT(with_ties, 160);
}

}  // namespace
}  // namespace lagoon
