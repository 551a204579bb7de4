#include "engine/sampler.h"

#include "support/sentence_of.h"

#include <gmock/gmock.h>

#include <cmath>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::sentence_of;

std::vector<int32_t> tokens_of(const std::vector<Candidate>& candidates) {
  std::vector<int32_t> tokens;
  for (const Candidate& candidate : candidates) tokens.push_back(candidate.token);
  return tokens;
}

TEST(Sampler, TemperatureZeroTakesTheLargestAndTheLowestAmongEquals) {
  Sampler sampler({.temperature = 0.0});
  EXPECT_EQ(sampler.sample(std::vector<float>{1.0f, 3.0f, 3.0f, 2.0f}), 1);
}

TEST(Sampler, PenaltiesCountBeforeAGreedyChoice) {
  Sampler sampler({.temperature = 0.0, .repetition_penalty = 2.0});
  sampler.see_prompt(std::vector<int32_t>{1});
  EXPECT_EQ(sampler.sample(std::vector<float>{2.0f, 3.0f, 1.0f}), 0);  // 3 / 2 < 2
}

TEST(Sampler, TopKKeepsWhateverEqualsTheLast) {
  const Sampler sampler({.top_k = 2});
  EXPECT_EQ(tokens_of(sampler.distribution(std::vector<float>{1.0f, 5.0f, 4.0f, 4.0f})), (std::vector<int32_t>{1, 2, 3}));
}

TEST(Sampler, PresenceCountsOnceAndFrequencyEachTimeInTheAnswerAlone) {
  Sampler sampler({.presence_penalty = 0.5, .frequency_penalty = 1.0});
  sampler.see_prompt(std::vector<int32_t>{0, 0, 0});
  sampler.accept(1);
  sampler.accept(1);

  const auto candidates = sampler.distribution(std::vector<float>{1.0f, 1.0f, 1.0f});

  EXPECT_DOUBLE_EQ(candidates[0].probability, candidates[2].probability);
  EXPECT_NEAR(candidates[1].probability / candidates[0].probability, std::exp(-2.5), 1e-9);
}

TEST(Sampler, ABiasIsAddedToItsLogit) {
  const Sampler sampler({.logit_bias = {{2, 1.0}}});
  const auto candidates = sampler.distribution(std::vector<float>{0.0f, 0.0f, 0.0f});
  EXPECT_NEAR(candidates[2].probability / candidates[0].probability, std::exp(1.0), 1e-9);
  EXPECT_THAT(sentence_of(ErrorKind::invalid,
                          [] {
                            (void)Sampler({.logit_bias = {{3, 1.0}}}).distribution(std::vector<float>{0.0f, 0.0f});
                          }),
              HasSubstr("token 3 is outside the vocabulary of 2"));
}

TEST(Sampler, TheSameSeedDrawsTheSameTokens) {
  const std::vector<float> logits(100, 0.0f);
  std::vector<std::vector<int32_t>> draws;
  for (const uint64_t seed : {7u, 7u, 8u}) {
    Sampler sampler({.seed = seed});
    for (int at = 0; at < 20; ++at) (at == 0 ? draws.emplace_back() : draws.back()).push_back(sampler.sample(logits));
  }
  EXPECT_EQ(draws[0], draws[1]);
  EXPECT_NE(draws[0], draws[2]);
}

// The first outputs of SplitMix64 from seed 1234567, as its authors' code gives them.
TEST(RandomNumbers, AreSplitMix64) {
  RandomNumbers random(1234567);
  for (const uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u}) {
    EXPECT_EQ(random.next(), static_cast<double>(expected >> 11) * 0x1p-53);
  }
}

TEST(Sampler, DrawsFollowTheProbabilities) {
  Sampler sampler({.seed = 1});
  const std::vector<float> logits = {0.0f, std::log(3.0f)};
  int ones = 0;
  for (int at = 0; at < 4000; ++at) ones += sampler.sample(logits);
  EXPECT_NEAR(ones, 3000, 120);  // four standard deviations
}

TEST(Sampler, OptionsOutOfRangeAreNamed) {
  const auto refused = [](SamplingOptions options) { return sentence_of(ErrorKind::invalid, [&] { Sampler sampler(std::move(options)); }); };
  EXPECT_THAT(refused({.temperature = -0.1}), HasSubstr("temperature is -0.1, it must be 0 (greedy) or between"));
  EXPECT_THAT(refused({.temperature = 1e-45}), HasSubstr("temperature is 1e-45"));
  EXPECT_THAT(refused({.repetition_penalty = 1e-320}), HasSubstr("repetition_penalty"));
  EXPECT_THAT(refused({.temperature = NAN}), HasSubstr("temperature is nan"));
  EXPECT_THAT(refused({.top_k = -1}), HasSubstr("top_k"));
  EXPECT_THAT(refused({.top_p = 1.5}), HasSubstr("top_p"));
  EXPECT_THAT(refused({.min_p = -1}), HasSubstr("min_p"));
  EXPECT_THAT(refused({.repetition_penalty = 0}), HasSubstr("repetition_penalty"));
  EXPECT_THAT(refused({.logit_bias = {{-1, 1.0}}}), HasSubstr("-1 is no token id"));
}

TEST(Sampler, NanLogitsAreAnErrorAndNoToken) {
  Sampler sampler({.temperature = 0.0});
  EXPECT_THAT(sentence_of(ErrorKind::bug, [&] { sampler.sample(std::vector<float>{1.0f, NAN}); }), HasSubstr("NaN"));
}

}  // namespace
}  // namespace lagoon
