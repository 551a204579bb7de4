#include "benchmark/speed_run.h"

#include "base/error.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

namespace lagoon {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

SpeedLimits mean_of(const SpeedLimits& a, const SpeedLimits& b) {
  return {.fixed_multiply_adds = (a.fixed_multiply_adds + b.fixed_multiply_adds) / 2,
          .float_multiply_adds = (a.float_multiply_adds + b.float_multiply_adds) / 2};
}

/// The position of the largest; the first of equals. In 16 lanes, which the compiler turns into vectors.
int32_t largest(std::span<const float> logits) {
  constexpr size_t lanes = 16;
  float most[lanes];
  std::fill_n(most, lanes, logits[0]);
  size_t at = 0;
  for (; at + lanes <= logits.size(); at += lanes) {
    for (size_t lane = 0; lane < lanes; ++lane) most[lane] = logits[at + lane] > most[lane] ? logits[at + lane] : most[lane];
  }
  float best = *std::max_element(most, most + lanes);
  for (; at < logits.size(); ++at) best = std::max(best, logits[at]);
  return static_cast<int32_t>(std::find(logits.begin(), logits.end(), best) - logits.begin());
}

}  // namespace

/// Sequences with their prompts computed; they end with this, also when it is stopped.
class SpeedRun::Sequences {
 public:
  Sequences(Model& model, const SpeedCase& asked) : model_(model), prompt_tokens_(asked.prompt_tokens) {
    for (int at = 0; at < asked.sequences; ++at) ids.push_back(model.create_sequence(asked.prompt_tokens + asked.generated_tokens));
  }
  ~Sequences() {
    for (const SequenceId id : ids) model_.drop(id);
  }
  Sequences(const Sequences&) = delete;
  Sequences& operator=(const Sequences&) = delete;

  /// Back to the end of the prompts. False if the model cannot.
  bool rewind() {
    return std::all_of(ids.begin(), ids.end(), [this](SequenceId id) { return model_.rewind(id, prompt_tokens_); });
  }

  std::vector<SequenceId> ids;
  std::vector<int32_t> first_tokens;  // of the answers, by sequence

 private:
  Model& model_;
  int64_t prompt_tokens_;
};

struct SpeedRun::Prefill {
  StepWork work;
  double seconds = 0.0;
  double first_token_seconds = 0.0;  // mean
};

struct SpeedRun::Decode {
  StepWork work;
  double seconds = 0.0;
  double bandwidth = 0.0;
};

SpeedRun::SpeedRun(CpuModel& model, ReadBandwidth& bandwidth, WorkerPool& pool, int sequences, MemoryBudget& budget)
    : model_(model),
      bandwidth_(bandwidth),
      pool_(pool),
      limits_(measure_compute_limits(model.kernels(), pool)),
      logits_(budget, "logits", static_cast<size_t>(sequences) * static_cast<size_t>(model.config().vocabulary)) {}

uint64_t SpeedRun::bytes(const ModelConfig& config, int sequences) {
  return static_cast<uint64_t>(sequences) * static_cast<uint64_t>(config.vocabulary) * sizeof(float);
}

void SpeedRun::next_tokens(std::span<int32_t> tokens) {
  for (int32_t& token : tokens) {
    prompt_state_ = prompt_state_ * 6364136223846793005u + 1442695040888963407u;
    token = static_cast<int32_t>((prompt_state_ >> 33) % static_cast<uint64_t>(model_.config().vocabulary));
  }
}

int32_t SpeedRun::choose(std::span<const float> logits) {
  const auto begun = Clock::now();
  const int32_t token = largest(logits);
  sampling_seconds_ += seconds_since(begun);
  return token;
}

SpeedRun::Prefill SpeedRun::prefill(const SpeedCase& asked, Sequences& sequences, const Count& count) {
  const int64_t vocabulary = model_.config().vocabulary;
  Prefill result;
  std::vector<int32_t> piece(static_cast<size_t>(std::min(model_.step_rows(), asked.prompt_tokens)));  // of a prompt
  const auto begun = Clock::now();
  for (const SequenceId sequence : sequences.ids) {
    for (int64_t done = 0; done < asked.prompt_tokens;) {
      const int64_t rows = std::min(model_.step_rows(), asked.prompt_tokens - done);
      const bool last = done + rows == asked.prompt_tokens;
      const std::span<int32_t> tokens = std::span(piece).first(static_cast<size_t>(rows));
      next_tokens(tokens);
      const TokenSpan span{sequence, tokens, last ? 1 : 0};
      int64_t counted = 0;
      const LayerProgress progress = [&](int layer, int layers) { count(rows * layer / layers - std::exchange(counted, rows * layer / layers)); };
      model_.forward(std::span(&span, 1), {logits_.data(), span.logit_rows, vocabulary}, progress);
      result.work += model_.last_work();
      count(rows - counted);
      done += rows;
    }
    sequences.first_tokens.push_back(choose({logits_.data(), static_cast<size_t>(vocabulary)}));
    result.first_token_seconds += seconds_since(begun) / asked.sequences;
  }
  result.seconds = seconds_since(begun);
  return result;
}

SpeedRun::Decode SpeedRun::decode(const SpeedCase& asked, Sequences& sequences, const Count& count) {
  const int64_t vocabulary = model_.config().vocabulary;
  Decode result;
  std::vector<int32_t> last = sequences.first_tokens;
  std::vector<TokenSpan> batch;
  const double before = bandwidth_.measure(pool_);
  const auto begun = Clock::now();
  for (int64_t step = 1; step < asked.generated_tokens; ++step) {
    batch.clear();
    for (size_t at = 0; at < last.size(); ++at) batch.push_back({sequences.ids[at], std::span(&last[at], 1), 1});
    model_.forward(batch, {logits_.data(), asked.sequences, vocabulary});
    result.work += model_.last_work();
    for (size_t at = 0; at < last.size(); ++at)
      last[at] = choose({logits_.data() + static_cast<int64_t>(at) * vocabulary, static_cast<size_t>(vocabulary)});
    count(asked.sequences);
  }
  result.seconds = seconds_since(begun);
  result.bandwidth = (before + bandwidth_.measure(pool_)) / 2;
  return result;
}

void SpeedRun::warm_up(const SpeedProgress& progress) {
  const int64_t prompt = std::min<int64_t>(32, model_.context() - 8);
  if (prompt >= 1) measure({.prompt_tokens = prompt, .generated_tokens = 8, .repeats = 1, .prefills = 1}, progress);
}

/// Figures of each repeat, before they become spreads.
struct SpeedRun::Figures {
  std::vector<double> generation, bandwidth, decode_fraction, prefill, ttft, prefill_fraction, end_to_end;
  double prompt_seconds = 0.0;  // of the latest prefill

  void add(const SpeedCase& asked, const Prefill& run, const SpeedLimits& limits) {
    const double bound = run.work.fixed_multiply_adds / limits.fixed_multiply_adds + run.work.float_multiply_adds / limits.float_multiply_adds;
    prefill.push_back(static_cast<double>(asked.prompt_tokens * asked.sequences) / run.seconds);
    ttft.push_back(1000.0 * run.first_token_seconds);
    prefill_fraction.push_back(bound / run.seconds);
    prompt_seconds = run.seconds;
  }

  void add(const SpeedCase& asked, const Decode& run) {
    const auto bytes = static_cast<double>(run.work.weight_bytes + run.work.key_value_bytes);
    generation.push_back(static_cast<double>((asked.generated_tokens - 1) * asked.sequences) / run.seconds);
    bandwidth.push_back(run.bandwidth);
    decode_fraction.push_back(bytes / run.bandwidth / run.seconds);
    end_to_end.push_back(prompt_seconds + run.seconds);
  }

  void into(SpeedResult& result) {
    result.generation_tokens_per_second = spread_of(std::move(generation));
    result.prefill_tokens_per_second = spread_of(std::move(prefill));
    result.ttft_ms = spread_of(std::move(ttft));
    result.end_to_end_seconds = spread_of(std::move(end_to_end));
    result.read_bandwidth = spread_of(std::move(bandwidth));
    result.decode_bound_fraction = spread_of(std::move(decode_fraction));
    result.prefill_bound_fraction = spread_of(std::move(prefill_fraction));
  }
};

/// While it lives, steps add their seconds to a phase.
class SpeedRun::Watched {
 public:
  Watched(CpuModel& model, PhaseTimes& phase) : model_(model), phase_(phase), waited_(model.seconds_waited()) { model.profile(&phase.parts); }
  ~Watched() {
    model_.profile(nullptr);
    phase_.waiting_seconds += model_.seconds_waited() - waited_;
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  CpuModel& model_;
  PhaseTimes& phase_;
  double waited_;
};

SpeedResult SpeedRun::measure(const SpeedCase& asked, const SpeedProgress& progress) {
  require(asked.prompt_tokens >= 1 && asked.generated_tokens >= 2 && asked.sequences >= 1, "a case has tokens");
  require(asked.prefills >= 1 && asked.prefills <= asked.repeats, "each answer follows a prompt");
  require(asked.sequences <= model_.step_rows() && bytes(model_.config(), asked.sequences) <= logits_.size() * sizeof(float),
          "a step has room for all sequences");
  sampling_seconds_ = 0.0;
  SpeedResult result = {.asked = asked};
  const int64_t total = asked.sequences * (asked.prefills * asked.prompt_tokens + asked.repeats * (asked.generated_tokens - 1));
  int64_t done = 0;
  const Count count = [&](int64_t tokens) {
    done += tokens;
    if (progress) progress(std::min(done, total), total);
  };
  Figures figures;
  std::unique_ptr<Sequences> sequences;
  for (int repeat = 0; repeat < asked.repeats; ++repeat) {
    if (repeat < asked.prefills || !sequences->rewind()) {
      sequences.reset();
      sequences = std::make_unique<Sequences>(model_, asked);
      const SpeedLimits before = measure_compute_limits(model_.kernels(), pool_);
      const Watched watched(model_, result.prefill);
      const Prefill run = prefill(asked, *sequences, count);
      limits_ = mean_of(before, measure_compute_limits(model_.kernels(), pool_));
      figures.add(asked, run, limits_);
      result.prefill.seconds += run.seconds;
      result.prefill_multiply_adds = run.work.fixed_multiply_adds + run.work.float_multiply_adds;
    }
    const Watched watched(model_, result.decode);
    const Decode run = decode(asked, *sequences, count);
    figures.add(asked, run);
    result.decode.seconds += run.seconds;
    result.decode_bytes_per_step =
        static_cast<double>(run.work.weight_bytes + run.work.key_value_bytes) / static_cast<double>(asked.generated_tokens - 1);
  }
  figures.into(result);
  result.sampling_seconds = sampling_seconds_;
  result.peaks = bandwidth_.peaks();
  return result;
}

}  // namespace lagoon
