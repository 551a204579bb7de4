// speed_run.h: how fast a model reads prompts and writes answers, beside the bounds that this machine sets.
//
//   generation   (generated tokens - 1) / (time of the last - time of the first), for all sequences together
//   prefill      prompt tokens / time until every sequence has its first token
//   TTFT         time until a sequence has its first token, from the start of the measurement; mean over the sequences
//   decode bound   read bandwidth / bytes that a step must read; the bandwidth is measured before and after each decode
//   prefill bound  multiply-adds / what the kernel set's instructions can do at most: the most that was measured until then,
//                  at first and before and after each prefill
#pragma once

#include "benchmark/machine_limits.h"
#include "laguna/cpu_model.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace lagoon {

struct SpeedCase {
  int64_t prompt_tokens = 0;
  int64_t generated_tokens = 0;  // of each sequence, at least 2
  int sequences = 1;
  int repeats = 3;   // of the answer
  int prefills = 3;  // of the prompt, 1 to repeats; later answers follow the same prompt again
};

/// Where the time of the prefills, or of the decodes, went.
struct PhaseTimes {
  double seconds = 0.0;
  StepProfile parts;
  double waiting_seconds = 0.0;  // for threads; contained in the parts
};

struct SpeedResult {
  SpeedCase asked;
  Spread generation_tokens_per_second;
  Spread prefill_tokens_per_second;
  Spread ttft_ms;
  Spread end_to_end_seconds;           // prompts and answers
  MemoryPeaks peaks;                   // until now, without the buffer that bandwidth is measured with
  double decode_bytes_per_step = 0.0;  // mean over the steps: weights and keys and values, once for all sequences
  double prefill_multiply_adds = 0.0;  // of all prompts together
  Spread read_bandwidth;               // bytes per second, measured around the decodes
  Spread decode_bound_fraction;        // speed / bound
  Spread prefill_bound_fraction;
  PhaseTimes decode;              // of all repeats
  PhaseTimes prefill;             // of all prefills
  double sampling_seconds = 0.0;  // choosing tokens
};

/// Called between steps with the tokens done and in all of this case; may throw to stop.
using SpeedProgress = std::function<void(int64_t done, int64_t total)>;

class SpeedRun {
 public:
  /// @param bandwidth, pool  for measuring; the pool has as many threads as the model
  /// @param sequences        the most of any case, 1 to the model's step_rows()
  /// @param budget           pays for bytes()
  SpeedRun(CpuModel& model, ReadBandwidth& bandwidth, WorkerPool& pool, int sequences, MemoryBudget& budget);

  /// What a run holds beside the model, its sequences and the bandwidth's buffer: the logits of a step.
  static uint64_t bytes(const ModelConfig& config, int sequences);

  /// The instructions' speeds as they were measured around the latest prefill; read_bandwidth stays 0.
  const SpeedLimits& limits() const { return limits_; }

  /// A short prompt and a few tokens, so that nothing is measured for the first time.
  void warm_up(const SpeedProgress& progress = {});

  /// Sequences with distinct prompts of pseudo-random ids: no prefix is computed twice or reused. Temperature 0.
  SpeedResult measure(const SpeedCase& asked, const SpeedProgress& progress);

 private:
  class Sequences;
  struct Prefill;
  struct Decode;
  struct Figures;
  class Watched;
  using Count = std::function<void(int64_t tokens)>;
  Prefill prefill(const SpeedCase& asked, Sequences& sequences, const Count& count);
  Decode decode(const SpeedCase& asked, Sequences& sequences, const Count& count);
  int32_t choose(std::span<const float> logits);
  void next_tokens(std::span<int32_t> tokens);

  CpuModel& model_;
  ReadBandwidth& bandwidth_;
  WorkerPool& pool_;
  SpeedLimits limits_;
  uint64_t prompt_state_ = 1;
  ClaimedBuffer<float> logits_;  // [sequences][vocabulary]
  double sampling_seconds_ = 0.0;
};

}  // namespace lagoon
