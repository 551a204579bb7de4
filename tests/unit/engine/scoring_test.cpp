#include "engine/scoring.h"
#include "support/error_matchers.h"
#include "support/scripted_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lagoon {
namespace {

using testing_support::ScriptedModel;

struct Scored {
  std::vector<TokenScore> tokens;
  std::vector<int64_t> progress;
};

Scored score(Model& model, const std::vector<int32_t>& ids, ScoreOptions options) {
  Scored scored;
  ScoreEvents events;
  events.token = [&](const TokenScore& one) { scored.tokens.push_back(one); };
  events.progress = [&](int64_t processed, int64_t total) {
    scored.progress.push_back(processed);
    EXPECT_EQ(total, tokens_to_process(static_cast<int64_t>(ids.size()), options));
  };
  score_tokens(model, ids, options, events);
  return scored;
}

std::vector<int64_t> positions(const Scored& scored) {
  std::vector<int64_t> all;
  for (const TokenScore& one : scored.tokens) all.push_back(one.position);
  return all;
}

// After n tokens the scripted model gives script[n] a logit of 10 and each other of the 4 tokens 0.
constexpr double likely = -0.00013619051493825574;  // -log(1 + 3 exp(-10))
constexpr double unlikely = -10.000136190514938;    // the same - 10

TEST(Scoring, ATokenIsScoredByTheLogitsOfThoseBeforeIt) {
  ScriptedModel model({0, 1, 2, 3}, 4, 16);
  const Scored scored = score(model, {0, 1, 3, 3}, {.context = 16, .stride = 16});

  ASSERT_EQ(positions(scored), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_NEAR(scored.tokens[0].log_probability, likely, 1e-12);
  EXPECT_EQ(scored.tokens[0].rank, 0);
  EXPECT_NEAR(scored.tokens[1].log_probability, unlikely, 1e-12);  // wanted 2, came 3
  EXPECT_EQ(scored.tokens[1].rank, 1);
  EXPECT_EQ(scored.tokens[1].id, 3);
  EXPECT_NEAR(scored.tokens[2].log_probability, likely, 1e-12);
  EXPECT_EQ(model.sequences(), 0u);
}

TEST(Scoring, EveryTokenButTheFirstIsScoredOnceForEveryContextAndStride) {
  for (int64_t count = 2; count <= 23; ++count) {
    for (int64_t context = 2; context <= 12; ++context) {
      for (int64_t stride = 1; stride <= context; ++stride) {
        ScriptedModel model({0, 1, 2, 3}, 4, 12, 3);
        const std::vector<int32_t> ids(static_cast<size_t>(count), 1);
        std::vector<int64_t> expected;
        for (int64_t at = 1; at < count; ++at) {
          // With windows that do not overlap the first token of each has nothing before it.
          if (stride < context || at % context != 0) expected.push_back(at);
        }
        const Scored scored = score(model, ids, {.context = context, .stride = stride});
        ASSERT_EQ(positions(scored), expected) << count << " tokens, context " << context << ", stride " << stride;
      }
    }
  }
}

TEST(Scoring, ProgressCountsTheTokensOfAllWindows) {
  ScriptedModel model({0}, 4, 8, 3);
  const Scored scored = score(model, std::vector<int32_t>(10, 1), {.context = 6, .stride = 4});

  EXPECT_EQ(tokens_to_process(10, {.context = 6, .stride = 4}), 12);  // [0, 6) and [4, 10)
  EXPECT_EQ(scored.progress, (std::vector<int64_t>{0, 3, 6, 9}));
}

TEST(Scoring, WhatCannotBeScoredIsRefusedInASentence) {
  const auto refuses = [](const std::vector<int32_t>& ids, ScoreOptions options, const char* part) {
    ScriptedModel model({0}, 4, 8);
    testing_support::expect_error([&] { score_tokens(model, ids, options, {}); }, ErrorKind::invalid, {part});
  };
  refuses({1}, {.context = 8, .stride = 8}, "the text has 1 token, two are the least");
  refuses({}, {.context = 8, .stride = 8}, "the text has 0 tokens");
  refuses({1, 1}, {.context = 9, .stride = 8}, "a context of 9 tokens: 2 to 8");
  refuses({1, 1}, {.context = 1, .stride = 1}, "a context of 1 tokens");
  refuses({1, 1}, {.context = 8, .stride = 0}, "a stride of 0");
  refuses({1, 1}, {.context = 4, .stride = 5}, "a stride of 5 tokens: 1 to the context of 4");
  refuses({1, 4}, {.context = 4, .stride = 4}, "token id 4, number 2 of the list: the vocabulary has ids 0 to 3");
  refuses({1, -1}, {.context = 4, .stride = 4}, "token id -1");
}

TEST(Scoring, LogitsThatAreNotFiniteAreAnErrorAtTheirPosition) {
  class Broken final : public ScriptedModel {
   public:
    using ScriptedModel::ScriptedModel;
    void forward(std::span<const TokenSpan> batch, MatrixView<float> logits, const LayerProgress& = {}) override {
      ScriptedModel::forward(batch, logits);
      if (steps == 2) logits.row(0)[3] = std::numeric_limits<float>::quiet_NaN();
    }
  };
  Broken model({0}, 4, 8, 2);
  testing_support::expect_error([&] { score_tokens(model, std::vector<int32_t>(6, 1), {.context = 8, .stride = 8}, {}); }, ErrorKind::corrupt,
                                {"before token 3 are not finite"});
  EXPECT_EQ(model.sequences(), 0u);
}

TEST(ScoreSummary, MeanAndStandardErrorAreThoseOfTheDefinition) {
  ScoreSummary summary;
  EXPECT_TRUE(std::isnan(summary.standard_error()));
  for (const double value : {-1.0, -2.0, -4.0, -5.0}) summary.add(value);

  EXPECT_EQ(summary.tokens(), 4);
  EXPECT_DOUBLE_EQ(summary.mean(), 3.0);
  EXPECT_NEAR(summary.standard_error(), std::sqrt(10.0 / 3.0 / 4.0), 1e-15);
  EXPECT_NEAR(summary.perplexity(), std::exp(3.0), 1e-12);
  EXPECT_NEAR(summary.perplexity_error(), std::exp(3.0) * std::sqrt(10.0 / 12.0), 1e-12);
}

}  // namespace
}  // namespace lagoon
