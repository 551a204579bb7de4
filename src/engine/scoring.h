// scoring.h: how likely a model finds a text: the log probability of each token given those before it, and what they come to.
//   log p(t | prefix) = z[t] - max(z) - log(sum over v of exp(z[v] - max(z)))      z: logits of the prefix's last token
// A text longer than the context is read through windows of `context` tokens that begin every `stride` tokens. A token is scored once: in the
// first window that holds it behind at least one other token. With stride = context the first token of each window is thus not scored; a smaller
// stride gives every token at least context - stride tokens before it (those at the start of the text excepted).
// Source: transformers, docs/source/en/perplexity.md ("Perplexity of fixed-length models").
// Proof: tests/conformance/engine/scoring_test.cpp (logits made by transformers).
#pragma once

#include "engine/token_progress.h"
#include "laguna/model.h"

#include <cstdint>
#include <functional>
#include <span>

namespace lagoon {

struct ScoreOptions {
  int64_t context = 0;  // tokens of a window: 2 to Model::context()
  int64_t stride = 0;   // tokens from one window's beginning to the next's: 1 to context
};

struct TokenScore {
  int64_t position = 0;  // in the text, from 0
  int32_t id = 0;
  double log_probability = 0.0;  // natural logarithm
  int64_t rank = 0;              // tokens with a larger logit: 0 if this one is the likeliest
};

/// Mean and spread of negative log likelihoods, collected one by one (Welford 1962).
class ScoreSummary {
 public:
  void add(double log_probability);

  int64_t tokens() const { return count_; }
  double mean() const { return mean_; }  // nats a token; 0 without tokens
  /// Of the mean: sample deviation / sqrt(tokens); NaN with fewer than two tokens.
  double standard_error() const;
  /// exp(mean); infinity where that is beyond double.
  double perplexity() const;
  /// Of the perplexity, to first order: perplexity * standard_error().
  double perplexity_error() const { return perplexity() * standard_error(); }

 private:
  int64_t count_ = 0;
  double mean_ = 0.0;
  double squares_ = 0.0;  // sum of squared distances from the mean
};

struct ScoreEvents {
  std::function<void(const TokenScore&)> token;  // in ascending position
  TokenProgress progress;                        // tokens of all windows; throwing ends the work
};

/// Tokens that all windows together process.
int64_t tokens_to_process(int64_t tokens, const ScoreOptions& options);

/// What can be refused without a model. @param context  most tokens of a window. @throws Error(invalid) for fewer than two tokens, options out of
/// range and ids outside the vocabulary
void check_score(std::span<const int32_t> tokens, const ScoreOptions& options, int64_t vocabulary, int64_t context);

/// A step asks for as many rows of logits as it has rows, at most.
/// @throws as check_score, Error(corrupt) naming the position where the model's logits are not finite, whatever an event throws
void score_tokens(Model& model, std::span<const int32_t> tokens, const ScoreOptions& options, const ScoreEvents& events);

}  // namespace lagoon
