// sampler.h: from logits to the next token. Order: logit bias, repetition penalty, presence and frequency penalty,
// temperature, top_k, top_p, min_p, then one draw.
//   repetition: a logit of a token that stands in the prompt or the answer is divided by the penalty if positive, else
//     multiplied.  presence, frequency: subtracted once, and once for each occurrence, for tokens of the answer.
//   top_k keeps the k largest and all equal to the k-th; top_p keeps the smallest set of likeliest tokens whose sum reaches
//     p; min_p keeps tokens with at least min_p times the largest probability. Each keeps at least one token.
// Source: transformers, generation/logits_process.py; penalties of the answer: the OpenAI API.
// Proof: tests/conformance/engine/sampler_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace lagoon {

struct SamplingOptions {
  double temperature = 1.0;  // 0: greedy, the largest logit, the lowest id among equals
  int64_t top_k = 0;         // 0: off
  double top_p = 1.0;        // 1: off
  double min_p = 0.0;        // 0: off
  double repetition_penalty = 1.0;
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  std::map<int32_t, double> logit_bias;
  uint64_t seed = 0;
};

/// @throws Error(invalid) naming the option, its value and its range
void check_sampling_options(const SamplingOptions& options);

/// The random numbers of one answer: SplitMix64 (Steele, Lea and Flood 2014) from the seed. The n-th draw is
/// floor(mix(seed + n * 0x9e3779b97f4a7c15) / 2^11) / 2^53, n = 1, 2, ..., with
/// mix(z): z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9; z = (z ^ z >> 27) * 0x94d049bb133111eb; z ^ z >> 31.
class RandomNumbers {
 public:
  explicit RandomNumbers(uint64_t seed) : state_(seed) {}
  /// Uniform in [0, 1).
  double next();

 private:
  uint64_t state_;
};

struct Candidate {
  int32_t token = 0;
  double probability = 0.0;
};

class Sampler {
 public:
  /// @throws as check_sampling_options
  explicit Sampler(SamplingOptions options);

  /// Tokens before the answer; they count for the repetition penalty.
  void see_prompt(std::span<const int32_t> tokens);

  /// Chooses a token and counts it as part of the answer.
  /// @param logits  [vocabulary]. @throws Error(bug) if one is NaN
  int32_t sample(std::span<const float> logits);

  /// The tokens that could be drawn next, in ascending id, probabilities adding up to 1.
  std::vector<Candidate> distribution(std::span<const float> logits) const;

  /// Counts a token as part of the answer without drawing it.
  void accept(int32_t token);

 private:
  std::vector<float> adjusted(std::span<const float> logits) const;

  SamplingOptions options_;
  RandomNumbers random_;
  std::map<int32_t, int64_t> in_prompt_;  // token -> occurrences
  std::map<int32_t, int64_t> in_answer_;
};

}  // namespace lagoon
