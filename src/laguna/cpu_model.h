// cpu_model.h: the Model of this machine's processor.
#pragma once

#include "checkpoint/checkpoint.h"
#include "laguna/forward.h"
#include "laguna/model.h"

#include <map>
#include <memory>

namespace lagoon {

struct CpuModelOptions {
  Precision precision = Precision::standard;
  int64_t step_rows = 512;             // most tokens of one step (the prefill chunk)
  int64_t context = 0;                 // most positions of a sequence; 0: the checkpoint's max_position_embeddings
  int threads = 1;                     // the caller's included
  const KernelSet* kernels = nullptr;  // nullptr: the best of this machine
};

class CpuModel final : public Model {
 public:
  /// Loads the weights. @param budget  must outlive the model
  CpuModel(const Checkpoint& checkpoint, const CpuModelOptions& options, MemoryBudget& budget, const LoadProgress& progress = {});

  const ModelConfig& config() const override { return config_; }
  int64_t step_rows() const override { return activations_.rows; }
  int64_t context() const override { return context_; }
  SequenceId create_sequence() override;
  SequenceId fork(SequenceId sequence) override;
  bool rewind(SequenceId sequence, int64_t position) override;
  void drop(SequenceId sequence) override;
  int64_t length(SequenceId sequence) const override;
  void forward(std::span<const TokenSpan> batch, MatrixView<float> logits) override;

  /// Every later step is shown to `observer`.
  void observe(StepObserver observer) { observer_ = std::move(observer); }

  /// What the last step had to do at least.
  const StepWork& last_work() const { return work_; }

  /// Every later step adds its seconds to `profile`; null ends that.
  void profile(StepProfile* profile) { profile_ = profile; }

  /// Seconds that steps have spent in waiting for threads, all together; contained in the parts of a profile.
  double seconds_waited() const { return pool_.seconds_waited(); }

  const KernelSet& kernels() const { return kernels_; }
  int threads() const { return pool_.threads(); }

  /// Bytes of the weights in memory, of a sequence of `length` tokens, and of the buffers of a step.
  static uint64_t weight_bytes(const Checkpoint& checkpoint) { return ModelWeights::bytes(checkpoint); }
  static uint64_t sequence_bytes(const ModelConfig& config, const CpuModelOptions& options, int64_t length);
  static uint64_t step_bytes(const Checkpoint& checkpoint, const CpuModelOptions& options);

 private:
  KvCache& cache(SequenceId sequence) const;
  Step make_step(std::span<const TokenSpan> batch, MatrixView<float> logits) const;

  ModelConfig config_;
  Precision precision_;
  int64_t context_;
  MemoryBudget& budget_;
  const KernelSet& kernels_;
  WorkerPool pool_;
  ModelWeights weights_;
  ExpertStore experts_;
  Rotary rotary_[2];  // by AttentionKind
  Activations activations_;
  int64_t next_sequence_ = 0;
  std::map<SequenceId, std::unique_ptr<KvCache>> caches_;
  StepObserver observer_;
  StepWork work_;
  StepProfile* profile_ = nullptr;
};

}  // namespace lagoon
