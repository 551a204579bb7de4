// Log probabilities and perplexity against the logits that transformers computed (tests/golden/transformers): log_softmax in double from the
// stored fp32 logits, mean and standard error by their definitions.
#include "engine/scoring.h"
#include "support/golden_tensors.h"
#include "support/model_under_test.h"
#include "support/tolerances.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace lagoon {
namespace {

using namespace testing_support;

const std::string golden = LAGOON_GOLDEN_DIR "/transformers/";

struct Expected {
  int64_t position;
  double log_probability;
};

/// For every row of logits that is stored and has a token behind it.
std::vector<Expected> expected_scores(const Json& item, const std::vector<double>& logits) {
  const auto ids = item["ids"].get<std::vector<int32_t>>();
  const auto positions = item["positions"].get<std::vector<int64_t>>();
  const size_t vocabulary = logits.size() / positions.size();
  std::vector<Expected> expected;
  for (size_t row = 0; row < positions.size(); ++row) {
    const int64_t next = positions[row] + 1;
    if (next == static_cast<int64_t>(ids.size())) continue;
    const double* values = logits.data() + row * vocabulary;
    const double largest = *std::max_element(values, values + vocabulary);
    double sum = 0.0;
    for (size_t v = 0; v < vocabulary; ++v) sum += std::exp(values[v] - largest);
    expected.push_back({next, values[ids[static_cast<size_t>(next)]] - largest - std::log(sum)});
  }
  return expected;
}

std::map<int64_t, TokenScore> scores(Model& model, const std::vector<int32_t>& ids, const ScoreOptions& options, ScoreSummary& summary) {
  std::map<int64_t, TokenScore> found;
  ScoreEvents events;
  events.token = [&](const TokenScore& score) {
    summary.add(score.log_probability);
    EXPECT_TRUE(found.emplace(score.position, score).second) << "position " << score.position << " is scored twice";
  };
  score_tokens(model, ids, options, events);
  return found;
}

class TransformersScores : public testing::TestWithParam<const char*> {};

TEST_P(TransformersScores, AreLogProbabilitiesAndPerplexityOfItsLogits) {
  const std::string folder = golden + GetParam();
  ModelUnderTest model(folder, {.precision = Precision::oracle, .step_rows = 16});
  const GoldenTensors tensors(folder + "/reference.safetensors");
  const Json reference = Json::parse(std::ifstream(folder + "/reference.json"));
  int compared = 0;
  for (const Json& item : reference["cases"]) {
    const auto ids = item["ids"].get<std::vector<int32_t>>();
    if (ids.size() < 2) continue;
    const auto context = static_cast<int64_t>(ids.size());
    ScoreSummary summary;
    const auto found = scores(*model.model, ids, {.context = context, .stride = context}, summary);
    ASSERT_EQ(found.size(), ids.size() - 1);

    const auto expected = expected_scores(item, tensors.numbers(item["key"].get<std::string>() + ".logits_f32"));
    double sum = 0.0;
    for (const Expected& one : expected) {
      EXPECT_NEAR(found.at(one.position).log_probability, one.log_probability, oracle_logits) << item["key"] << " position " << one.position;
      sum -= one.log_probability;
      ++compared;
    }
    if (expected.size() + 1 != ids.size()) continue;  // only the last positions are stored
    const double mean = sum / static_cast<double>(expected.size());
    double squares = 0.0;
    for (const Expected& one : expected) squares += (-one.log_probability - mean) * (-one.log_probability - mean);
    const auto count = static_cast<double>(expected.size());
    EXPECT_NEAR(summary.mean(), mean, oracle_logits);
    EXPECT_NEAR(summary.perplexity(), std::exp(mean), oracle_logits * std::exp(mean));
    EXPECT_NEAR(summary.standard_error(), std::sqrt(squares / (count - 1.0)) / std::sqrt(count), oracle_logits);
  }
  EXPECT_GE(compared, 6 + 39 + 11);
}

INSTANTIATE_TEST_SUITE_P(Shapes, TransformersScores, testing::Values("xs", "s", "m"));

TEST(Scoring, WindowsScoreATokenAsTheirOwnPrefixDoes) {
  ModelUnderTest model(golden + "xs", {.step_rows = 16});
  const Json reference = Json::parse(std::ifstream(golden + "xs/reference.json"));
  const auto ids = reference["cases"][3]["ids"].get<std::vector<int32_t>>();
  ASSERT_EQ(ids.size(), 130u);
  ScoreSummary summary;
  const auto found = scores(*model.model, ids, {.context = 40, .stride = 10}, summary);

  ASSERT_EQ(found.size(), 129u);
  for (const int64_t position : {1, 39, 40, 49, 50, 77, 129}) {
    // The first window that holds the position: windows begin at 0, 10, 20, ...
    const int64_t begin = position < 40 ? 0 : (position - 40) / 10 * 10 + 10;
    const std::vector<int32_t> window(ids.begin() + begin, ids.begin() + position + 1);
    ScoreSummary alone;
    const auto last = scores(*model.model, window, {.context = 40, .stride = 40}, alone);
    EXPECT_EQ(found.at(position).log_probability, last.at(position - begin).log_probability) << "position " << position;
  }
}

}  // namespace
}  // namespace lagoon
