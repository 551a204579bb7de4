#include "engine/scoring.h"

#include "base/error.h"
#include "base/portable_math.h"
#include "engine/token_ids.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lagoon {
namespace {

/// The tokens [begin, end) of the text as one sequence; those from `fresh` on are scored in it.
struct Window {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t fresh = 0;
};

/// The last window is the first that reaches the end of the text; one that would hold its last token alone is left out.
std::vector<Window> windows_of(int64_t tokens, const ScoreOptions& options) {
  std::vector<Window> windows;
  int64_t seen = 0;  // tokens before it have had their turn
  for (int64_t begin = 0; seen < tokens; begin += options.stride) {
    const Window window{.begin = begin, .end = std::min(begin + options.context, tokens), .fresh = std::max(seen, begin + 1)};
    seen = window.end;
    if (window.fresh < window.end) windows.push_back(window);
  }
  return windows;
}

TokenScore score_of(std::span<const float> logits, int64_t position, int32_t id) {
  TokenScore score{.position = position, .id = id};
  const float own = logits[static_cast<size_t>(id)];
  float largest = -std::numeric_limits<float>::infinity();
  bool finite = true;
  for (const float logit : logits) {
    finite = finite && std::isfinite(logit);
    largest = std::max(largest, logit);
    score.rank += logit > own ? 1 : 0;
  }
  if (!finite) {
    fail(ErrorKind::corrupt, "the model's logits before token {} are not finite; its weights hold NaN or infinite numbers, fetch them again",
         position);
  }
  double sum = 0.0;
  for (const float logit : logits) sum += exponential(static_cast<double>(logit) - static_cast<double>(largest));
  score.log_probability = static_cast<double>(own) - static_cast<double>(largest) - natural_log(sum);
  return score;
}

/// Drops its sequence however the window ends.
class WindowSequence {
 public:
  explicit WindowSequence(Model& model, int64_t positions) : model_(model), id_(model.create_sequence(positions)) {}
  ~WindowSequence() { model_.drop(id_); }
  WindowSequence(const WindowSequence&) = delete;
  WindowSequence& operator=(const WindowSequence&) = delete;
  SequenceId id() const { return id_; }

 private:
  Model& model_;
  SequenceId id_;
};

/// Logits of a row score the token behind it: asked for are the rows from `fresh` - 1 on, which stand at the end of their steps.
class WindowScorer {
 public:
  WindowScorer(Model& model, std::span<const int32_t> tokens, const ScoreEvents& events) : model_(model), tokens_(tokens), events_(events) {}

  void score(const Window& window, int64_t& processed, int64_t total) {
    const WindowSequence sequence(model_, window.end - window.begin);
    const int64_t vocabulary = model_.config().vocabulary;
    for (int64_t begin = window.begin; begin < window.end;) {
      if (events_.progress) events_.progress(processed, total);
      const int64_t rows = std::min(model_.step_rows(), window.end - begin);
      const int64_t asked = std::clamp<int64_t>(begin + rows - (window.fresh - 1), 0, rows);
      logits_.resize(static_cast<size_t>(asked * vocabulary));
      const TokenSpan span{.sequence = sequence.id(), .tokens = part(begin, rows), .logit_rows = asked};
      model_.forward(std::span(&span, 1), MatrixView<float>(logits_.data(), asked, vocabulary),
                     within_step(events_.progress, processed, rows, total));
      begin += rows;
      processed += rows;
      take(begin - asked, std::min(begin, window.end - 1));
    }
  }

 private:
  std::span<const int32_t> part(int64_t begin, int64_t count) const {
    return tokens_.subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
  }

  /// Rows [first, last) have logits; the last row of a window has no token behind it in the window.
  void take(int64_t first, int64_t last) const {
    const auto vocabulary = static_cast<size_t>(model_.config().vocabulary);
    for (int64_t row = first; row < last; ++row) {
      const std::span<const float> logits = std::span(logits_).subspan(static_cast<size_t>(row - first) * vocabulary, vocabulary);
      const TokenScore score = score_of(logits, row + 1, tokens_[static_cast<size_t>(row + 1)]);
      if (events_.token) events_.token(score);
    }
  }

  Model& model_;
  std::span<const int32_t> tokens_;
  const ScoreEvents& events_;
  std::vector<float> logits_;  // [rows asked for][vocabulary]
};

}  // namespace

void ScoreSummary::add(double log_probability) {
  ++count_;
  const double before = -log_probability - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (-log_probability - mean_);
}

double ScoreSummary::standard_error() const {
  if (count_ < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto count = static_cast<double>(count_);
  return std::sqrt(squares_ / (count - 1.0) / count);
}

double ScoreSummary::perplexity() const { return exponential(mean_); }

int64_t tokens_to_process(int64_t tokens, const ScoreOptions& options) {
  int64_t total = 0;
  for (const Window& window : windows_of(tokens, options)) total += window.end - window.begin;
  return total;
}

void check_score(std::span<const int32_t> tokens, const ScoreOptions& options, int64_t vocabulary, int64_t context) {
  if (tokens.size() < 2) {
    fail(ErrorKind::invalid, "the text has {} token{}, two are the least that can be scored: each is scored by those before it", tokens.size(),
         tokens.size() == 1 ? "" : "s");
  }
  if (options.context < 2 || options.context > context)
    fail(ErrorKind::invalid, "a context of {} tokens: 2 to {} are possible here", options.context, context);
  if (options.stride < 1 || options.stride > options.context)
    fail(ErrorKind::invalid, "a stride of {} tokens: 1 to the context of {} are possible", options.stride, options.context);
  check_token_ids(tokens, vocabulary);
}

void score_tokens(Model& model, std::span<const int32_t> tokens, const ScoreOptions& options, const ScoreEvents& events) {
  check_score(tokens, options, model.config().vocabulary, model.context());
  const auto count = static_cast<int64_t>(tokens.size());
  const int64_t total = tokens_to_process(count, options);
  int64_t processed = 0;
  WindowScorer scorer(model, tokens, events);
  for (const Window& window : windows_of(count, options)) scorer.score(window, processed, total);
}

}  // namespace lagoon
