// Rule 2 beyond one span of attention: contexts of several spans, cut by steps, threads and batches in many ways. Threads share
// the spans of a long context where there are few rows and take rows where there are many; nothing of that may show.
#include "support/checkpoint_builder.h"
#include "support/model_under_test.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lagoon {
namespace {

using namespace testing_support;

constexpr int64_t length = 1500;  // two spans of 1024
constexpr int64_t asked = 40;     // logits of the last so many are compared

class LongContexts : public testing::Test {
 protected:
  LongContexts() {
    CheckpointShape shape;
    shape.head_dim = 16;
    shape.window = 150;
    CheckpointBuilder builder(shape);
    builder.quantize("experts", 4, 32).quantize("lm_head", 8, 32);
    builder.config["max_position_embeddings"] = 4096;
    builder.write(folder_.path());
    for (int64_t at = 0; at < length; ++at) prompt_.push_back(static_cast<int32_t>((at * at + 7 * at) % shape.vocabulary));
  }

  std::unique_ptr<ModelUnderTest> model(int threads, int64_t step_rows, const KernelSet* kernels = nullptr) {
    return std::make_unique<ModelUnderTest>(folder_.path().string(), CpuModelOptions{.step_rows = step_rows, .threads = threads, .kernels = kernels});
  }

  TokenSpan span(SequenceId sequence, int64_t begin, int64_t count, int64_t logit_rows) const {
    return {sequence, std::span(prompt_).subspan(static_cast<size_t>(begin), static_cast<size_t>(count)), logit_rows};
  }

  void fill(Model& laguna, SequenceId sequence, int64_t end) const {
    for (int64_t done = laguna.length(sequence); done < end;) {
      const int64_t count = std::min(laguna.step_rows(), end - done);
      const TokenSpan part = span(sequence, done, count, 0);
      laguna.forward(std::span(&part, 1), {nullptr, 0, laguna.config().vocabulary});
      done += count;
    }
  }

  /// Logits of the last tokens, in steps of `chunk`.
  std::vector<float> last_logits(ModelUnderTest& subject, int64_t chunk) const {
    Model& laguna = *subject.model;
    const int64_t vocabulary = subject.vocabulary();
    const SequenceId sequence = laguna.create_sequence();
    fill(laguna, sequence, length - asked);
    std::vector<float> logits(static_cast<size_t>(asked * vocabulary));
    for (int64_t at = 0; at < asked; at += chunk) {
      const int64_t count = std::min(chunk, asked - at);
      const TokenSpan part = span(sequence, length - asked + at, count, count);
      laguna.forward(std::span(&part, 1), {logits.data() + at * vocabulary, count, vocabulary});
    }
    laguna.drop(sequence);
    return logits;
  }

  TemporaryFolder folder_;
  std::vector<int32_t> prompt_;
};

TEST_F(LongContexts, WhateverTheStepsThreadsAndKernels) {
  const std::vector<float> expected = last_logits(*model(1, 512, &scalar_kernels()), asked);
  for (const KernelSet* kernels : runnable_kernel_sets(detect_cpu_features())) {
    for (const int threads : {1, 3}) {
      for (const int64_t chunk : {int64_t{1}, int64_t{7}, asked}) {
        if (kernels == &scalar_kernels() && (threads == 1 || chunk == 1)) continue;  // slow, and compared above
        const std::vector<float> logits = last_logits(*model(threads, 300, kernels), chunk);
        ASSERT_EQ(std::memcmp(logits.data(), expected.data(), logits.size() * sizeof(float)), 0)
            << kernels->name << ", threads " << threads << ", chunk " << chunk;
      }
    }
  }
}

TEST_F(LongContexts, WhateverElseIsInTheBatch) {
  const auto subject = model(3, 300);
  Model& laguna = *subject->model;
  const int64_t vocabulary = subject->vocabulary();
  const std::vector<float> expected = last_logits(*subject, 1);
  const SequenceId tall = laguna.create_sequence();
  const SequenceId small = laguna.create_sequence();
  fill(laguna, tall, length - asked);
  fill(laguna, small, 5);
  std::vector<float> logits(static_cast<size_t>(3 * vocabulary));
  for (int64_t at = 0; at < asked; ++at) {
    const TokenSpan batch[] = {span(small, 5 + 2 * at, 2, 2), span(tall, length - asked + at, 1, 1)};
    laguna.forward(batch, {logits.data(), 3, vocabulary});
    ASSERT_EQ(std::memcmp(logits.data() + 2 * vocabulary, expected.data() + at * vocabulary, static_cast<size_t>(vocabulary) * sizeof(float)), 0)
        << at;
  }
}

}  // namespace
}  // namespace lagoon
