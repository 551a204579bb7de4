// The whole model against transformers: tests/golden/transformers. Oracle precision equals its fp32 run, hidden states
// included; default precision is at most half as far from it as its bf16 run.
#include "base/json.h"
#include "support/golden_tensors.h"
#include "support/model_under_test.h"
#include "support/tolerances.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>

namespace lagoon {
namespace {

using namespace testing_support;

class Transformers : public testing::TestWithParam<const char*> {
 protected:
  std::string folder() const { return std::string(LAGOON_GOLDEN_DIR "/transformers/") + GetParam(); }
  const Json reference = parse_json(read_text(SystemFiles(), folder() + "/reference.json", 1 << 20), "reference.json");
  GoldenTensors tensors{folder() + "/reference.safetensors"};
};

INSTANTIATE_TEST_SUITE_P(Models, Transformers, testing::Values("xs", "s", "m"), [](const auto& parameter) { return std::string(parameter.param); });

/// Rows of `logits` [tokens][vocabulary] at the positions of the case.
std::vector<double> rows_at(const std::vector<float>& logits, const std::vector<int64_t>& positions, int64_t vocabulary) {
  std::vector<double> rows;
  for (const int64_t position : positions) {
    const auto begin = logits.begin() + position * vocabulary;
    rows.insert(rows.end(), begin, begin + vocabulary);
  }
  return rows;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double worst = 0.0;
  for (size_t at = 0; at < actual.size(); ++at) worst = std::max(worst, std::isnan(actual[at]) ? INFINITY : std::fabs(actual[at] - expected[at]));
  EXPECT_LE(worst, tolerance) << what;
}

double squared_error(const std::vector<double>& actual, const std::vector<double>& expected) {
  double sum = 0.0;
  for (size_t at = 0; at < actual.size(); ++at) sum += (actual[at] - expected[at]) * (actual[at] - expected[at]);
  return sum;
}

TEST_P(Transformers, OracleLogitsAreTheFp32Logits) {
  ModelUnderTest model(folder(), {.precision = Precision::oracle, .threads = 2});
  ASSERT_EQ(reference["cases"].size(), 4u);
  for (const Json& item : reference["cases"]) {
    const std::string key = item["key"];
    const auto logits = model.logits(item["ids"]);
    expect_near(rows_at(logits, item["positions"], model.vocabulary()), tensors.numbers(key + ".logits_f32"), oracle_logits, key);
  }
}

TEST_P(Transformers, OracleHiddenStatesAreTheFp32HiddenStates) {
  ModelUnderTest model(folder(), {.precision = Precision::oracle});
  std::vector<std::vector<double>> seen;
  model.model->observe({.residual = [&](int, MatrixView<const float> residual) {
    seen.emplace_back(residual.data, residual.data + residual.rows * residual.columns);
  }});
  for (const Json& item : reference["cases"]) {
    if (item["key"] != "tokens_40") continue;
    model.logits(item["ids"]);
  }
  const size_t layers = model.model->config().layers.size();
  ASSERT_EQ(seen.size(), layers + 2);

  // transformers keeps the input of each layer, and instead of the last layer's output its normed form
  for (size_t index = 0; index < layers; ++index) {
    expect_near(seen[index], tensors.numbers("tokens_40.hidden_" + std::to_string(index)), oracle_logits, "hidden " + std::to_string(index));
  }
  expect_near(seen[layers + 1], tensors.numbers("tokens_40.hidden_" + std::to_string(layers)), oracle_logits, "final norm");
}

TEST_P(Transformers, GreedyTokensAreTheSame) {
  ModelUnderTest model(folder(), {.precision = Precision::oracle, .threads = 2});
  for (const Json& item : reference["cases"]) {
    if (item["greedy_smallest_margin"].get<double>() < greedy_gap) continue;
    EXPECT_EQ(model.greedy(item["ids"], 24), item["greedy_24"].get<std::vector<int32_t>>()) << item["key"];
  }
}

TEST_P(Transformers, DefaultPrecisionIsAtMostHalfAsFarOffAsBf16) {
  ModelUnderTest model(folder(), {.threads = 2});
  double ours = 0.0;
  double bf16 = 0.0;
  for (const Json& item : reference["cases"]) {
    const std::string key = item["key"];
    const auto truth = tensors.numbers(key + ".logits_f32");
    ours += squared_error(rows_at(model.logits(item["ids"]), item["positions"], model.vocabulary()), truth);
    bf16 += squared_error(tensors.numbers(key + ".logits_bf16_model"), truth);
  }
  RecordProperty("share_of_bf16_error", std::to_string(std::sqrt(ours / bf16)));
  EXPECT_GT(bf16, 0.0);
  EXPECT_LE(std::sqrt(ours / bf16), share_of_bf16_error);
}

}  // namespace
}  // namespace lagoon
