// memory_plan.h: how much memory a model will need, line by line, before anything loads. Pure arithmetic on headers: what CpuModel
// will claim (laguna/cpu_model.h), and what a process holds beside its ledger. The lines have the names of the ledger's.
#pragma once

#include "checkpoint/checkpoint.h"
#include "laguna/cpu_model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

struct PlanLine {
  std::string name;
  uint64_t bytes = 0;
  std::string formula;  // with numbers put in; its value is `bytes`
};

struct PlanRequest {
  CpuModelOptions model;       // context: tokens of each sequence, at least 1; step_rows: the prefill chunk; threads
  int64_t sequences = 1;       // at once
  int64_t positions = 0;       // tokens of each sequence, where that is less than the context; 0: the context
  int64_t logit_rows = 0;      // most rows of logits held at once, as far as the context goes; 0: one for each sequence
  uint64_t text_bytes = 0;     // of tokenizer.json and chat template; 0: no text is read
  std::vector<PlanLine> more;  // what a command holds beside the model
};

struct MemoryPlan {
  std::vector<PlanLine> lines;
  uint64_t total_bytes() const;
};

/// Names of the lines that are no model's own.
constexpr const char* logits_line = "logits";
constexpr const char* text_line = "tokenizer and template";
constexpr const char* runtime_line = "runtime";

class MemoryPlanner {
 public:
  /// @param checkpoint  must outlive the planner
  explicit MemoryPlanner(const Checkpoint& checkpoint);

  /// The chunk counts as no longer than the context. Sizes beyond 64 bits stay at the largest number.
  MemoryPlan plan(const PlanRequest& request) const;

  /// The longest context, up to the checkpoint's own, with which the request's total is at most `bytes`; 0: none is. With `positions`, of one
  /// sequence alone.
  int64_t largest_context(PlanRequest request, uint64_t bytes) const;

  /// The most sequences, up to most_sequences, with which it is; 0: none is.
  int64_t largest_sequences(PlanRequest request, uint64_t bytes) const;

  static constexpr int64_t most_sequences = 1 << 20;

  const Checkpoint& checkpoint() const { return checkpoint_; }

 private:
  void add_sequences(const PlanRequest& request, const CpuModelOptions& options, MemoryPlan& plan) const;
  PlanLine runtime(int threads, uint64_t later) const;

  const Checkpoint& checkpoint_;
  std::vector<PlanLine> weights_;
  uint64_t matrices_ = 0;
  uint64_t reading_bytes_ = 0;
};

/// The chunk that a request comes to: never longer than its context.
CpuModelOptions options_of(const PlanRequest& request);

/// "3 sequences of 4,096 tokens".
std::string describe_sequences(const PlanRequest& request);

/// Bytes that tokenizer and template take in memory, from their bytes as files.
uint64_t text_memory(uint64_t file_bytes);

}  // namespace lagoon
