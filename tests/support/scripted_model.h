// scripted_model.h: a Model without arithmetic. After n tokens it wants token script[n]; it remembers what it was asked.
#pragma once

#include "base/error.h"
#include "laguna/model.h"

#include <map>
#include <vector>

namespace lagoon::testing_support {

class ScriptedModel : public Model {
 public:
  ScriptedModel(std::vector<int32_t> script, int32_t vocabulary, int64_t context, int64_t step_rows = 4)
      : script_(std::move(script)), context_(context), step_rows_(step_rows) {
    config_.vocabulary = vocabulary;
  }

  const ModelConfig& config() const override { return config_; }
  int64_t step_rows() const override { return step_rows_; }
  int64_t context() const override { return context_; }
  using Model::create_sequence;
  SequenceId create_sequence(int64_t /*positions*/) override {
    const auto sequence = static_cast<SequenceId>(next_++);
    tokens_[sequence] = {};
    return sequence;
  }
  SequenceId fork(SequenceId sequence) override {
    const auto copy = static_cast<SequenceId>(next_++);
    tokens_[copy] = tokens_.at(sequence);
    return copy;
  }
  bool rewind(SequenceId sequence, int64_t position) override {
    std::vector<int32_t>& tokens = tokens_.at(sequence);
    if (static_cast<int64_t>(tokens.size()) - position > most_rewound) return position == static_cast<int64_t>(tokens.size());
    tokens.resize(static_cast<size_t>(position));
    return true;
  }
  void drop(SequenceId sequence) override { tokens_.erase(sequence); }
  int64_t length(SequenceId sequence) const override { return static_cast<int64_t>(tokens_.at(sequence).size()); }
  void forward(std::span<const TokenSpan> batch, MatrixView<float> logits, const LayerProgress& = {}) override {
    int64_t row = 0;
    for (const TokenSpan& span : batch) {
      ++steps;
      std::vector<int32_t>& tokens = tokens_.at(span.sequence);
      require(static_cast<int64_t>(tokens.size() + span.tokens.size()) <= context_, "a test keeps to the context");
      for (size_t at = 0; at < span.tokens.size(); ++at) {
        tokens.push_back(span.tokens[at]);
        if (static_cast<int64_t>(span.tokens.size() - at) > span.logit_rows) continue;
        for (float& value : logits.row_span(row)) value = 0.0f;
        logits.row(row++)[script_[tokens.size() % script_.size()]] = 10.0f;
      }
    }
    require(row == logits.rows, "as many rows as asked for");
  }

  size_t sequences() const { return tokens_.size(); }
  const std::vector<int32_t>& only_sequence() const { return tokens_.begin()->second; }

  int steps = 0;
  int64_t most_rewound = 1000;  // how far back a sequence can be cut

 private:
  ModelConfig config_;
  std::vector<int32_t> script_;
  int64_t context_;
  int64_t step_rows_;
  int64_t next_ = 0;
  std::map<SequenceId, std::vector<int32_t>> tokens_;
};

}  // namespace lagoon::testing_support
