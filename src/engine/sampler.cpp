#include "engine/sampler.h"

#include "base/error.h"
#include "base/portable_math.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace lagoon {
namespace {

void check(bool fine, std::string_view name, double value, std::string_view range) {
  if (!fine) fail(ErrorKind::invalid, "{} is {}, it must be {}", name, value, range);
}

bool likelier(const Candidate& a, const Candidate& b) { return a.probability != b.probability ? a.probability > b.probability : a.token < b.token; }

/// All logits, as candidates whose `probability` still holds the logit.
std::vector<Candidate> candidates_of(const std::vector<float>& logits) {
  std::vector<Candidate> candidates(logits.size());
  for (size_t at = 0; at < logits.size(); ++at) candidates[at] = {static_cast<int32_t>(at), static_cast<double>(logits[at])};
  return candidates;
}

/// Keeps the k largest and whatever equals the k-th.
void keep_top_k(std::vector<Candidate>& candidates, int64_t k) {
  if (k <= 0 || static_cast<size_t>(k) >= candidates.size()) return;
  std::vector<Candidate> ranked = candidates;
  std::nth_element(ranked.begin(), ranked.begin() + (k - 1), ranked.end(), likelier);
  const double least = ranked[static_cast<size_t>(k - 1)].probability;
  std::erase_if(candidates, [least](const Candidate& candidate) { return candidate.probability < least; });
}

/// Logits to probabilities.
void softmax(std::vector<Candidate>& candidates) {
  double largest = candidates.front().probability;
  for (const Candidate& candidate : candidates) largest = std::max(largest, candidate.probability);
  double sum = 0.0;
  for (Candidate& candidate : candidates) sum += candidate.probability = exponential(candidate.probability - largest);
  for (Candidate& candidate : candidates) candidate.probability /= sum;
}

void keep_top_p(std::vector<Candidate>& candidates, double p) {
  if (p >= 1.0) return;
  std::sort(candidates.begin(), candidates.end(), likelier);
  // From the least likely up: tokens go while what went adds up to at most 1 - p.
  double gone = 0.0;
  while (candidates.size() > 1 && (gone += candidates.back().probability) <= 1.0 - p) candidates.pop_back();
}

void keep_min_p(std::vector<Candidate>& candidates, double min_p) {
  if (min_p <= 0.0) return;
  const double largest = std::min_element(candidates.begin(), candidates.end(), likelier)->probability;
  std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.probability < min_p * largest; });
}

int32_t largest_logit(std::span<const float> logits) { return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()); }

}  // namespace

void check_sampling_options(const SamplingOptions& options) {
  // Below, a logit divided by it can leave the range of floats.
  const bool divides = options.temperature >= 1e-5 && options.temperature <= 1e5;
  check(options.temperature == 0.0 || divides, "temperature", options.temperature, "0 (greedy) or between 0.00001 and 100000");
  check(options.top_k >= 0, "top_k", static_cast<double>(options.top_k), "0 (off) or more");
  check(options.top_p >= 0.0 && options.top_p <= 1.0, "top_p", options.top_p, "between 0 and 1 (off)");
  check(options.min_p >= 0.0 && options.min_p <= 1.0, "min_p", options.min_p, "between 0 (off) and 1");
  check(options.repetition_penalty >= 1e-3 && options.repetition_penalty <= 1e3, "repetition_penalty", options.repetition_penalty,
        "between 0.001 and 1000 (1 is off)");
  check(std::fabs(options.presence_penalty) <= 100.0, "presence_penalty", options.presence_penalty, "between -100 and 100 (0 is off)");
  check(std::fabs(options.frequency_penalty) <= 100.0, "frequency_penalty", options.frequency_penalty, "between -100 and 100 (0 is off)");
  for (const auto& [token, bias] : options.logit_bias) {
    if (token < 0) fail(ErrorKind::invalid, "logit bias: {} is no token id; ids are 0 or more", token);
    check(std::isfinite(bias), "logit bias", bias, "a finite number");
  }
}

double RandomNumbers::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

Sampler::Sampler(SamplingOptions options) : options_(std::move(options)), random_(options_.seed) { check_sampling_options(options_); }

void Sampler::see_prompt(std::span<const int32_t> tokens) {
  for (const int32_t token : tokens) ++in_prompt_[token];
}

void Sampler::accept(int32_t token) { ++in_answer_[token]; }

std::vector<float> Sampler::adjusted(std::span<const float> logits) const {
  std::vector<float> values(logits.begin(), logits.end());
  if (std::any_of(values.begin(), values.end(), [](float value) { return std::isnan(value); })) {
    fail(ErrorKind::bug, "the model's logits hold NaN; the checkpoint is damaged or Lagoon computes wrongly; run `lagoon logits` on it");
  }
  const auto known = [&](int32_t token) { return token >= 0 && static_cast<size_t>(token) < values.size(); };
  for (const auto& [token, bias] : options_.logit_bias) {
    if (!known(token)) fail(ErrorKind::invalid, "logit bias: token {} is outside the vocabulary of {}", token, values.size());
    values[static_cast<size_t>(token)] += static_cast<float>(bias);
  }
  const auto penalty = static_cast<float>(options_.repetition_penalty);
  const auto penalise = [&](int32_t token) {
    if (!known(token)) return;
    float& value = values[static_cast<size_t>(token)];
    value = value > 0.0f ? value / penalty : value * penalty;
  };
  if (penalty != 1.0f) {
    for (const auto& [token, count] : in_prompt_) penalise(token);
    for (const auto& [token, count] : in_answer_) {
      if (!in_prompt_.contains(token)) penalise(token);
    }
  }
  for (const auto& [token, count] : in_answer_) {
    if (!known(token)) continue;
    values[static_cast<size_t>(token)] -= static_cast<float>(options_.presence_penalty + options_.frequency_penalty * static_cast<double>(count));
  }
  return values;
}

std::vector<Candidate> Sampler::distribution(std::span<const float> logits) const {
  std::vector<float> values = adjusted(logits);
  if (options_.temperature == 0.0) return {{largest_logit(values), 1.0}};
  for (float& value : values) value /= static_cast<float>(options_.temperature);
  std::vector<Candidate> candidates = candidates_of(values);
  keep_top_k(candidates, options_.top_k);
  softmax(candidates);
  keep_top_p(candidates, options_.top_p);
  keep_min_p(candidates, options_.min_p);
  double sum = 0.0;
  for (const Candidate& candidate : candidates) sum += candidate.probability;
  for (Candidate& candidate : candidates) candidate.probability /= sum;
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) { return a.token < b.token; });
  return candidates;
}

int32_t Sampler::sample(std::span<const float> logits) {
  const std::vector<Candidate> candidates = distribution(logits);
  int32_t token = candidates.back().token;
  if (candidates.size() > 1) {
    double left = random_.next();
    for (const Candidate& candidate : candidates) {
      left -= candidate.probability;
      if (left < 0.0) {
        token = candidate.token;
        break;
      }
    }
  }
  accept(token);
  return token;
}

}  // namespace lagoon
