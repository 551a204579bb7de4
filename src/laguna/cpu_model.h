// cpu_model.h: the Model of this machine's processor.
#pragma once

#include "checkpoint/checkpoint.h"
#include "laguna/forward.h"
#include "laguna/model.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace lagoon {

struct CpuModelOptions {
  Precision precision = Precision::standard;
  int64_t step_rows = 512;             // most tokens of one step (the prefill chunk)
  int64_t context = 0;                 // most positions of a sequence; 0: the checkpoint's max_position_embeddings
  int threads = 1;                     // the caller's included
  const KernelSet* kernels = nullptr;  // nullptr: the best of this machine
  std::optional<ElementType> kv;       // of keys and values; nullopt: bf16, or f32 in oracle precision

  ElementType kv_element() const { return kv.value_or(precision == Precision::oracle ? ElementType::f32 : ElementType::bf16); }
};

class CpuModel final : public Model {
 public:
  /// Loads the weights. @param budget  must outlive the model
  CpuModel(const Checkpoint& checkpoint, const CpuModelOptions& options, MemoryBudget& budget, const LoadProgress& progress = {});

  const ModelConfig& config() const override { return config_; }
  int64_t step_rows() const override { return activations_.rows; }
  int64_t context() const override { return options_.context; }
  using Model::create_sequence;
  SequenceId create_sequence(int64_t positions) override;
  SequenceId fork(SequenceId sequence) override;
  bool rewind(SequenceId sequence, int64_t position) override;
  void drop(SequenceId sequence) override;
  int64_t length(SequenceId sequence) const override;
  void forward(std::span<const TokenSpan> batch, MatrixView<float> logits, const LayerProgress& progress = {}) override;

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

  /// What a model claims, by the names of its ledger: its weights once, keys and values for each sequence of `positions` tokens, the buffers
  /// of a step once. Known from headers alone.
  static std::vector<WeightLine> weight_lines(const Checkpoint& checkpoint) { return ModelWeights::lines(checkpoint); }
  static std::vector<MemoryLine> sequence_lines(const ModelConfig& config, const CpuModelOptions& options, int64_t positions);
  static MemoryLine step_line(const Checkpoint& checkpoint, const CpuModelOptions& options);

  /// What the buffers of a step depend on.
  static StepShape step_shape(const Checkpoint& checkpoint, const CpuModelOptions& options);

 private:
  struct Sequence {
    int64_t positions = 0;  // room for so many is claimed
    std::vector<MemoryBudget::Claim> claims;
    std::unique_ptr<KvCache> cache;
  };

  Sequence& at(SequenceId sequence);
  const Sequence& at(SequenceId sequence) const;
  SequenceId add(int64_t positions, const std::function<std::unique_ptr<KvCache>()>& make);
  Step make_step(std::span<const TokenSpan> batch, MatrixView<float> logits);

  ModelConfig config_;
  CpuModelOptions options_;
  MemoryBudget& budget_;
  const KernelSet& kernels_;
  WorkerPool pool_;
  ModelWeights weights_;
  ExpertStore experts_;
  Rotary rotary_[2];  // by AttentionKind
  Activations activations_;
  int64_t next_sequence_ = 0;
  std::map<SequenceId, Sequence> sequences_;
  StepObserver observer_;
  StepWork work_;
  StepProfile* profile_ = nullptr;
};

}  // namespace lagoon
