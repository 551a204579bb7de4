// Rule 2: same prefix, same bits. Logits depend on the weights and on the token prefix, on nothing else: here not on chunk
// sizes, threads, what else is in the batch, forks or cuts. Random shapes and schedules; every comparison is of bytes.
#include "engine/session.h"
#include "support/checkpoint_builder.h"
#include "support/model_under_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <random>

namespace lagoon {
namespace {

using namespace testing_support;

struct Scenario {
  uint32_t seed;
  Precision precision;
  const KernelSet* kernels;
};

std::string name_of_scenario(const testing::TestParamInfo<Scenario>& parameter) {
  std::string name = parameter.param.kernels->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return std::string(parameter.param.precision == Precision::oracle ? "oracle" : "standard") + "_seed_" + std::to_string(parameter.param.seed) + "_" +
         name;
}

std::vector<Scenario> scenarios() {
  std::vector<Scenario> list;
  const std::vector<const KernelSet*> sets = runnable_kernel_sets(detect_cpu_features());
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    for (const Precision precision : {Precision::standard, Precision::oracle}) list.push_back({seed, precision, sets[seed % sets.size()]});
  }
  return list;
}

/// A random checkpoint of random shape and formats, and the logits of one prompt computed whole, by one thread, alone, with the
/// scalar kernels.
class SameBits : public testing::TestWithParam<Scenario> {
 protected:
  SameBits() {
    CheckpointShape shape;
    shape.hidden = 64 * pick(1, 2);
    shape.kv_heads = pick(1, 2);
    shape.head_dim = 16 * pick(1, 3);
    shape.experts = pick(3, 9);
    shape.experts_per_token = pick(1, 3);
    shape.window = pick(5, 150);
    shape.per_element_gate = pick(0, 1) == 1;
    for (int& heads : shape.query_heads) heads = shape.kv_heads * pick(1, 4);
    CheckpointBuilder builder(shape, GetParam().seed);
    // head_dim * heads is not always a multiple of a group: only matrices that read the residual stream are quantized
    constexpr int widths[] = {2, 3, 4, 5, 6, 8};
    for (const char* part : {"q_proj", "k_proj", "experts", "gate_proj", "lm_head", "embed_tokens"}) {
      if (pick(0, 3) > 0) builder.quantize(part, widths[pick(0, 5)], pick(0, 1) == 1 ? 64 : 32);
    }
    builder.write(folder_.path());
    for (int at = 0; at < 170; ++at) prompt_.push_back(pick(0, shape.vocabulary - 1));
    expected_ = model(1, 256, &scalar_kernels())->logits(prompt_);
  }

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  std::unique_ptr<ModelUnderTest> model(int threads, int64_t step_rows, const KernelSet* kernels = nullptr) {
    return std::make_unique<ModelUnderTest>(
        folder_.path().string(),
        CpuModelOptions{
            .precision = GetParam().precision, .step_rows = step_rows, .threads = threads, .kernels = kernels ? kernels : GetParam().kernels});
  }

  /// Rows [begin, begin + rows) of the prompt's logits.
  void expect_rows(const float* actual, int64_t begin, int64_t rows, const std::string& what) const {
    const auto vocabulary = static_cast<int64_t>(expected_.size() / prompt_.size());
    const auto bytes = static_cast<size_t>(rows * vocabulary) * sizeof(float);
    if (bytes == 0) return;
    ASSERT_EQ(std::memcmp(actual, expected_.data() + begin * vocabulary, bytes), 0) << what << ", seed " << GetParam().seed;
  }

  /// Appends tokens [begin, begin + count) of the prompt and compares all their logits.
  void append(Model& laguna, SequenceId sequence, int64_t begin, int64_t count) const {
    const int64_t vocabulary = laguna.config().vocabulary;
    std::vector<float> logits(static_cast<size_t>(count * vocabulary));
    const TokenSpan span{sequence, std::span(prompt_).subspan(static_cast<size_t>(begin), static_cast<size_t>(count)), count};
    laguna.forward(std::span(&span, 1), {logits.data(), count, vocabulary});
    expect_rows(logits.data(), begin, count, "from " + std::to_string(begin));
  }

  std::mt19937 random_{GetParam().seed};
  TemporaryFolder folder_;
  std::vector<int32_t> prompt_;
  std::vector<float> expected_;  // [prompt][vocabulary]
};

INSTANTIATE_TEST_SUITE_P(Random, SameBits, testing::ValuesIn(scenarios()), name_of_scenario);

TEST_P(SameBits, WhateverTheChunksAndThreads) {
  for (const int threads : {1, 2, 3}) {
    for (const int64_t chunk : {1, 3, 16, 64}) {
      expect_rows(model(threads, chunk)->logits(prompt_).data(), 0, 170, "chunk " + std::to_string(chunk) + ", threads " + std::to_string(threads));
    }
  }
}

TEST_P(SameBits, WhateverTheKernelSet) {
  for (const KernelSet* kernels : runnable_kernel_sets(detect_cpu_features())) {
    for (const int64_t chunk : {1, 7, 170}) {
      expect_rows(model(2, chunk, kernels)->logits(prompt_).data(), 0, 170, std::string(kernels->name) + ", chunk " + std::to_string(chunk));
    }
  }
}

TEST_P(SameBits, WhateverTheScheduleOfManySequences) {
  const auto subject = model(2, 40);
  Model& laguna = *subject->model;
  const int64_t vocabulary = laguna.config().vocabulary;
  std::map<SequenceId, int64_t> lengths;  // all of them are prefixes of the prompt
  for (int round = 0; round < 120; ++round) {
    const int choice = pick(0, 9);
    const auto any = [&] { return std::next(lengths.begin(), pick(0, static_cast<int>(lengths.size()) - 1)); };
    if (lengths.empty() || (choice == 0 && lengths.size() < 5)) {
      lengths[laguna.create_sequence()] = 0;
    } else if (choice == 1 && lengths.size() < 5) {
      const auto original = any();
      lengths[laguna.fork(original->first)] = original->second;
    } else if (choice == 2) {
      const auto cut = any();
      const int64_t position = pick(0, static_cast<int>(cut->second));
      if (laguna.rewind(cut->first, position)) cut->second = position;
    } else if (choice == 3 && lengths.size() > 1) {
      const auto dropped = any();
      laguna.drop(dropped->first);
      lengths.erase(dropped);
    } else {
      std::vector<TokenSpan> batch;
      int64_t rows = 0;
      int64_t logit_rows = 0;
      for (const auto& [sequence, length] : lengths) {
        const int64_t most = std::min<int64_t>(40 - rows, 170 - length);
        if (most <= 0) continue;
        const int64_t count = pick(1, static_cast<int>(most));
        batch.push_back(
            {sequence, std::span(prompt_).subspan(static_cast<size_t>(length), static_cast<size_t>(count)), pick(0, static_cast<int>(count))});
        rows += count;
        logit_rows += batch.back().logit_rows;
      }
      if (batch.empty()) {
        for (auto& [sequence, length] : lengths) length = laguna.rewind(sequence, 0) ? 0 : length;
        continue;
      }
      std::vector<float> logits(static_cast<size_t>(logit_rows * vocabulary));
      laguna.forward(batch, {logits.data(), logit_rows, vocabulary});
      const float* row = logits.data();
      for (const TokenSpan& span : batch) {
        int64_t& length = lengths[span.sequence];
        length += static_cast<int64_t>(span.tokens.size());
        ASSERT_EQ(laguna.length(span.sequence), length);
        expect_rows(row, length - span.logit_rows, span.logit_rows, "round " + std::to_string(round));
        row += span.logit_rows * vocabulary;
      }
    }
  }
}

TEST_P(SameBits, AfterACutThatTheRingAllows) {
  const auto subject = model(1, 64);
  Model& laguna = *subject->model;
  const SequenceId sequence = laguna.create_sequence();
  append(laguna, sequence, 0, 64);
  append(laguna, sequence, 64, 64);
  append(laguna, sequence, 128, 40);
  ASSERT_TRUE(laguna.rewind(sequence, 150));
  append(laguna, sequence, 150, 20);
  ASSERT_TRUE(laguna.rewind(sequence, 0));
  append(laguna, sequence, 0, 10);
}

TEST_P(SameBits, AStepTellsHowFarItIs) {
  const auto subject = model(1, 64);
  Session session(*subject->model);
  std::vector<int64_t> told;
  session.sync(std::vector<int32_t>(100, 5), [&](int64_t done, int64_t total) {
    EXPECT_EQ(total, 100);
    told.push_back(done);
  });
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  const auto within = [](int64_t done) { return done > 0 && done < 64; };
  EXPECT_TRUE(std::any_of(told.begin(), told.end(), within)) << "layers of the first step";
  EXPECT_GT(told.back(), 64);
}

// A step that is stopped in the middle has written keys over old rows of the rings; nothing of that may show.
TEST_P(SameBits, AfterAStepThatWasStopped) {
  const auto subject = model(1, 64);
  CpuModel& laguna = *subject->model;
  const SequenceId sequence = laguna.create_sequence();
  append(laguna, sequence, 0, 64);
  append(laguna, sequence, 64, 20);
  int layers = 0;
  laguna.observe({.layer = [&](int) {
    if (++layers == 3) throw Error(ErrorKind::cancelled, "stopped");
  }});
  EXPECT_THROW(append(laguna, sequence, 84, 64), Error);
  // Also between the pieces of a layer, on whichever thread.
  std::atomic<int> checks = 0;
  laguna.observe({.check = [&] {
    if (++checks == 50) throw Error(ErrorKind::cancelled, "stopped");
  }});
  EXPECT_THROW(append(laguna, sequence, 84, 64), Error);
  EXPECT_GE(checks, 50);
  laguna.observe({});
  ASSERT_EQ(laguna.length(sequence), 84);

  append(laguna, sequence, 84, 30);
  if (laguna.rewind(sequence, 60)) append(laguna, sequence, 60, 40);
}

}  // namespace
}  // namespace lagoon
