// What is counted and what is timed. No case depends on how fast anything is.
#include "benchmark/least_bytes.h"
#include "benchmark/machine_limits.h"
#include "benchmark/speed_run.h"
#include "checkpoint/synthetic.h"
#include "kernels/peak_probes.h"
#include "support/checkpoint_builder.h"
#include "support/error_matchers.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>

#include <cmath>
#include <memory>
#include <vector>

namespace lagoon {
namespace {

using testing_support::CheckpointBuilder;
using testing_support::expect_error;
using testing_support::TemporaryFolder;

constexpr uint64_t mib = 1u << 20;

TEST(SpreadOf, IsMedianLeastAndMost) {
  const auto expect = [](const std::vector<double>& values, double median, double least, double most) {
    const Spread spread = spread_of(values);
    EXPECT_EQ(spread.median, median);
    EXPECT_EQ(spread.least, least);
    EXPECT_EQ(spread.most, most);
  };
  expect({3.0}, 3.0, 3.0, 3.0);
  expect({9.0, 1.0}, 5.0, 1.0, 9.0);
  expect({9.0, 1.0, 2.0}, 2.0, 1.0, 9.0);
  expect({4.0, 1.0, 100.0, 2.0}, 3.0, 1.0, 100.0);
}

TEST(ReadBandwidth, IsMeasuredWithAnyNumberOfThreads) {
  MemoryBudget budget;
  ReadBandwidth bandwidth(mib, budget);
  EXPECT_EQ(bandwidth.bytes(), mib);
  for (const int threads : {1, 2, 3}) {
    WorkerPool pool(threads);
    const double rate = bandwidth.measure(pool);
    EXPECT_TRUE(std::isfinite(rate));
    EXPECT_GT(rate, 0.0);
  }
}

TEST(ReadBandwidth, TakesHalfOfWhatIsLeftWithinLimits) {
  EXPECT_EQ(ReadBandwidth::usual_bytes(std::nullopt), 1024 * mib);
  EXPECT_EQ(ReadBandwidth::usual_bytes(0), 64 * mib);
  EXPECT_EQ(ReadBandwidth::usual_bytes(128 * mib), 64 * mib);
  EXPECT_EQ(ReadBandwidth::usual_bytes(600 * mib), 300 * mib);
  EXPECT_EQ(ReadBandwidth::usual_bytes(UINT64_MAX), 1024 * mib);
}

TEST(ReadBandwidth, ItsBufferIsInNoPeak) {
  MemoryBudget budget;
  { const MemoryBudget::Claim early = budget.claim("early", 5 * mib); }
  const ReadBandwidth bandwidth(64 * mib, budget);
  EXPECT_EQ(budget.peak(), 64 * mib);
  EXPECT_EQ(bandwidth.peaks().ledger, 5 * mib);
  const MemoryBudget::Claim late = budget.claim("late", 7 * mib);
  EXPECT_EQ(bandwidth.peaks().ledger, 7 * mib);
  EXPECT_GT(bandwidth.peaks().resident, 0u);
}

TEST(PeakProbes, EachIsMeasured) {
  WorkerPool pool(2);
  for (const PeakProbe& probe : peak_probes(detect_cpu_features())) {
    const double peak = measure_peak(probe.name, pool);
    EXPECT_TRUE(std::isfinite(peak)) << probe.name;
    EXPECT_GT(peak, 0.0) << probe.name;
  }
  expect_error([&] { measure_peak("no such instruction", pool); }, ErrorKind::bug, {"no such instruction"});
}

TEST(PeakProbes, EveryKernelSetHasItsLimits) {
  WorkerPool pool(1);
  for (const KernelSet* kernels : runnable_kernel_sets(detect_cpu_features())) {
    const SpeedLimits limits = measure_compute_limits(*kernels, pool);
    EXPECT_GT(limits.fixed_multiply_adds, 0.0) << kernels->name;
    EXPECT_GT(limits.float_multiply_adds, 0.0) << kernels->name;
  }
}

TEST(MeasureMachine, MeasuresEachNumberOfThreads) {
  MemoryBudget budget;
  int pauses = 0;
  const MachineLimits limits = measure_machine(2, std::nullopt, budget, 2 * mib, [&pauses] { ++pauses; });
  EXPECT_EQ(limits.read_bandwidth.size(), 2u);
  EXPECT_EQ(limits.peaks.size(), peak_probes(detect_cpu_features()).size());
  EXPECT_GT(limits.run_seconds, 0.0);
  EXPECT_GT(limits.wake_seconds, 0.0);
  EXPECT_FALSE(limits.disk_rate);
  EXPECT_GT(pauses, 10);
  EXPECT_EQ(budget.total(), 0u);
}

TEST(MeasureMachine, AFileThatIsTooSmallHasNoRate) {
  const TemporaryFolder folder;
  MemoryBudget budget;
  EXPECT_FALSE(measure_machine(1, folder.write("small", "text"), budget, mib, [] {}).disk_rate);
  EXPECT_FALSE(measure_machine(1, folder.path() / "absent", budget, mib, [] {}).disk_rate);
}

TEST(MeasureMachine, CanBeStoppedBetweenMeasurements) {
  MemoryBudget budget;
  const auto stop = [] { fail(ErrorKind::cancelled, "enough"); };
  expect_error([&] { measure_machine(1, std::nullopt, budget, mib, stop); }, ErrorKind::cancelled, {"enough"});
}

/// Weights that one decode step of a built checkpoint reads, as the model counts them.
StepWork decode_work(const Checkpoint& checkpoint, Precision precision) {
  MemoryBudget budget;
  CpuModel model(checkpoint, {.precision = precision, .step_rows = 8, .context = 32}, budget);
  const SequenceId sequence = model.create_sequence();
  std::vector<float> logits(static_cast<size_t>(model.config().vocabulary));
  for (const int32_t token : {3, 5}) {
    const TokenSpan span{sequence, std::span(&token, 1), 1};
    model.forward(std::span(&span, 1), {logits.data(), 1, model.config().vocabulary});
  }
  return model.last_work();
}

TEST(LeastBytes, AreThoseThatADecodeStepCounts) {
  for (const char* format : {"", "4/64", "8/32", "mixed"}) {
    const TemporaryFolder folder;
    CheckpointBuilder builder;
    if (format == std::string("4/64")) builder.quantize("", 4, 64);
    if (format == std::string("8/32")) builder.quantize("proj", 8, 32);
    if (format == std::string("mixed")) builder.quantize("lm_head", 6, 64).quantize("experts.", 3, 32).quantize("embed_tokens", 5, 64);
    builder.write(folder.path());
    const Checkpoint checkpoint = Checkpoint::open(folder.path(), {}, SystemFiles());
    const uint64_t bytes = weight_bytes_of_a_token(checkpoint);
    EXPECT_EQ(bytes, decode_work(checkpoint, Precision::standard).weight_bytes) << format;
    EXPECT_LT(bytes, checkpoint.weight_bytes()) << format;
  }
}

class SpeedRunTest : public testing::Test {
 protected:
  SpeedRunTest()
      : model_(open_synthetic(parse_synthetic_spec("mini:4/64,layers=2")), {.step_rows = 16, .context = 64, .threads = 2}, budget_),
        pool_(2),
        bandwidth_(mib, budget_),
        run_(model_, bandwidth_, pool_, 3, budget_) {}

  /// Bytes of keys and values that live now.
  uint64_t cache_bytes() const { return budget_.total() - held_; }

  MemoryBudget budget_;
  CpuModel model_;
  WorkerPool pool_;
  ReadBandwidth bandwidth_;
  SpeedRun run_;
  uint64_t held_ = budget_.total();
};

void expect_sound(const Spread& spread, const char* what) {
  EXPECT_TRUE(std::isfinite(spread.most)) << what;
  EXPECT_GT(spread.least, 0.0) << what;
  EXPECT_LE(spread.least, spread.median) << what;
  EXPECT_LE(spread.median, spread.most) << what;
}

TEST_F(SpeedRunTest, EveryFigureIsFiniteAndAboveZero) {
  const SpeedLimits at_first = run_.limits();
  run_.warm_up();
  const SpeedResult result = run_.measure({.prompt_tokens = 40, .generated_tokens = 5, .sequences = 3, .repeats = 3, .prefills = 2}, {});
  expect_sound(result.generation_tokens_per_second, "generation");
  expect_sound(result.prefill_tokens_per_second, "prefill");
  expect_sound(result.ttft_ms, "TTFT");
  expect_sound(result.end_to_end_seconds, "end to end");
  expect_sound(result.read_bandwidth, "bandwidth");
  expect_sound(result.decode_bound_fraction, "decode bound");
  expect_sound(result.prefill_bound_fraction, "prefill bound");
  EXPECT_GT(result.peaks.ledger, 0u);
  EXPECT_GT(result.peaks.resident, 0u);
  EXPECT_GT(result.prefill_multiply_adds, 0.0);
  EXPECT_GT(result.decode.seconds, 0.0);
  EXPECT_GT(result.decode.parts.seconds[static_cast<size_t>(StepPart::experts)], 0.0);
  EXPECT_GT(result.prefill.parts.seconds[static_cast<size_t>(StepPart::attention)], 0.0);
  EXPECT_GT(result.sampling_seconds, 0.0);
  EXPECT_GT(at_first.float_multiply_adds, 0.0);
  EXPECT_GT(run_.limits().fixed_multiply_adds, 0.0);
  EXPECT_GT(run_.limits().float_multiply_adds, 0.0);
  EXPECT_EQ(cache_bytes(), 0u);  // its sequences have ended
}

TEST_F(SpeedRunTest, ProgressCountsTheTokensOfAllPromptsAndAnswers) {
  std::vector<int64_t> seen;
  int64_t all = 0;
  const auto progress = [&](int64_t done, int64_t total) {
    seen.push_back(done);
    all = total;
  };
  run_.measure({.prompt_tokens = 20, .generated_tokens = 5, .sequences = 2, .repeats = 3, .prefills = 2}, progress);
  EXPECT_EQ(all, 2 * (2 * 20 + 3 * 4));
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  for (const int64_t done : {16, 20, 36, 40}) EXPECT_NE(std::find(seen.begin(), seen.end(), done), seen.end()) << "prompts in steps of 16 and 4";
  EXPECT_NE(std::find(seen.begin(), seen.end(), 8), seen.end()) << "half of the layers of a step";
  EXPECT_EQ(seen.back(), all);
}

TEST_F(SpeedRunTest, OneSequenceReadsTheLeastBytesAndItsKeys) {
  const Checkpoint checkpoint = open_synthetic(parse_synthetic_spec("mini:4/64,layers=2"));
  const auto bytes = [&](int64_t prompt) {
    return run_.measure({.prompt_tokens = prompt, .generated_tokens = 2, .repeats = 1, .prefills = 1}, {}).decode_bytes_per_step;
  };
  const double least = static_cast<double>(weight_bytes_of_a_token(checkpoint));
  EXPECT_GT(bytes(1), least);
  EXPECT_LT(bytes(1), bytes(33));
  EXPECT_LT(bytes(33), 1.1 * least);
}

TEST_F(SpeedRunTest, WhatIsStoppedLeavesNoSequence) {
  const auto stop = [](int64_t done, int64_t) {
    if (done > 30) fail(ErrorKind::cancelled, "enough");
  };
  const SpeedCase asked = {.prompt_tokens = 20, .generated_tokens = 5, .sequences = 2, .repeats = 1, .prefills = 1};
  expect_error([&] { run_.measure(asked, stop); }, ErrorKind::cancelled, {"enough"});
  EXPECT_EQ(cache_bytes(), 0u);
  EXPECT_GT(run_.measure(asked, {}).generation_tokens_per_second.median, 0.0);
}

TEST_F(SpeedRunTest, CasesThatCannotBeAreBugs) {
  for (const SpeedCase& asked : {SpeedCase{.prompt_tokens = 0, .generated_tokens = 2}, SpeedCase{.prompt_tokens = 1, .generated_tokens = 1},
                                 SpeedCase{.prompt_tokens = 1, .generated_tokens = 2, .repeats = 1, .prefills = 2},
                                 SpeedCase{.prompt_tokens = 1, .generated_tokens = 2, .sequences = 4}}) {
    expect_error([&] { run_.measure(asked, {}); }, ErrorKind::bug, {});
  }
}

TEST_F(SpeedRunTest, ItsLogitsAreInTheLedger) {
  EXPECT_EQ(SpeedRun::bytes(model_.config(), 3), 3u * 4 * static_cast<uint64_t>(model_.config().vocabulary));
  bool found = false;
  for (const MemoryBudget::Line& line : budget_.lines())
    found = found || (line.name == "logits" && line.bytes >= SpeedRun::bytes(model_.config(), 3));
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace lagoon
