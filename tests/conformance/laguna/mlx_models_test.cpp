// Quantized checkpoints in MLX formats against mlx-lm: tests/golden/mlx-models.
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

const std::string golden = LAGOON_GOLDEN_DIR "/mlx-models/";

std::vector<int32_t> prompt(const std::string& name) {
  const Json index = parse_json(read_text(SystemFiles(), golden + "index.json", 1 << 20), "index.json");
  return index["shapes"]["mlx"]["prompts"][name];
}

/// The last `kept` rows.
std::vector<double> last_rows(const std::vector<float>& logits, size_t kept) { return {logits.end() - static_cast<int64_t>(kept), logits.end()}; }

double worst_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0.0 : INFINITY;
  for (size_t at = 0; at < a.size() && at < b.size(); ++at) worst = std::max(worst, std::isnan(a[at]) ? INFINITY : std::fabs(a[at] - b[at]));
  return worst;
}

class MlxModels : public testing::TestWithParam<const char*> {
 protected:
  std::string folder() const { return golden + GetParam(); }
  /// `respelled` holds the numbers of `mixed` under other names.
  GoldenTensors tensors{golden + (std::string(GetParam()) == "uniform" ? "uniform" : "mixed") + "-logits.safetensors"};
};

INSTANTIATE_TEST_SUITE_P(Checkpoints, MlxModels, testing::Values("uniform", "mixed", "respelled"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_P(MlxModels, OracleLogitsAreTheF32Logits) {
  ModelUnderTest model(folder(), {.precision = Precision::oracle, .threads = 2});
  for (const std::string name : {"p5", "p40", "p100"}) {
    const auto expected = tensors.numbers("f32." + name + ".full");
    EXPECT_LE(worst_difference(last_rows(model.logits(prompt(name)), expected.size()), expected), oracle_logits_mlx) << name;
  }
}

TEST_P(MlxModels, OracleTakesTheSameExperts) {
  ModelUnderTest model(folder(), {.precision = Precision::oracle});
  for (const std::string name : {"p5", "p40", "p100"}) {
    std::vector<int32_t> experts;  // [sparse layers][positions][k]
    model.model->observe({.routes = [&](int, std::span<const Route> routes) {
      for (const Route& route : routes) experts.push_back(route.expert);
    }});
    model.logits(prompt(name));
    EXPECT_EQ(experts, tensors.integers("f32." + name + ".experts")) << name;
  }
}

TEST_P(MlxModels, OracleHiddenStatesAreTheF32HiddenStates) {
  ModelUnderTest model(folder(), {.precision = Precision::oracle});
  std::vector<double> seen;
  const int layers = model.model->config().layer_count();
  model.model->observe({.residual = [&](int index, MatrixView<const float> residual) {
    if (index <= layers) seen.insert(seen.end(), residual.data, residual.data + residual.rows * residual.columns);
  }});
  model.logits(prompt("p5"));
  EXPECT_LE(worst_difference(seen, tensors.numbers("f32.p5.hidden")), oracle_logits_mlx);
}

TEST_P(MlxModels, GreedyTokensAreTheSame) {
  ModelUnderTest model(folder(), {.precision = Precision::oracle, .threads = 2});
  for (const std::string name : {"p5", "p40", "p100"}) EXPECT_EQ(model.greedy(prompt(name), 16), tensors.integers("f32." + name + ".greedy")) << name;
}

TEST_P(MlxModels, DefaultPrecisionIsAtMostHalfAsFarOffAsBf16) {
  ModelUnderTest model(folder(), {.threads = 2});
  double ours = 0.0;
  double bf16 = 0.0;
  for (const std::string name : {"p5", "p40", "p100"}) {
    const auto truth = tensors.numbers("f32." + name + ".full");
    const auto actual = last_rows(model.logits(prompt(name)), truth.size());
    const auto other = tensors.numbers("bf16acc32." + name + ".full");
    for (size_t at = 0; at < truth.size(); ++at) {
      ours += (actual[at] - truth[at]) * (actual[at] - truth[at]);
      bf16 += (other[at] - truth[at]) * (other[at] - truth[at]);
    }
  }
  RecordProperty("share_of_bf16_error", std::to_string(std::sqrt(ours / bf16)));
  EXPECT_LE(std::sqrt(ours / bf16), share_of_bf16_error);
}

TEST(MlxModels, AnotherSpellingGivesTheSameBits) {
  for (const Precision precision : {Precision::standard, Precision::oracle}) {
    ModelUnderTest mixed(golden + "mixed", {.precision = precision});
    ModelUnderTest respelled(golden + "respelled", {.precision = precision});
    EXPECT_EQ(mixed.logits(prompt("p40")), respelled.logits(prompt("p40")));
  }
}

}  // namespace
}  // namespace lagoon
