// Loading and running a model when the k-th read fails, or when memory ends at every possible place: a clear error, nothing
// kept, and the next try works.
#include "laguna/cpu_model.h"
#include "support/checkpoint_builder.h"
#include "support/faulty_files.h"
#include "support/sentence_of.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

namespace lagoon {
namespace {

using testing_support::CheckpointBuilder;
using testing_support::FaultyFiles;
using testing_support::TemporaryFolder;

class ModelFaults : public testing::Test {
 protected:
  ModelFaults() {
    CheckpointBuilder builder;
    builder.quantize("experts", 4, 32).write(folder_.path());
  }

  TemporaryFolder folder_;
};

TEST_F(ModelFaults, TheKthReadFails) {
  int failures = 0;
  for (int fault = 1; fault < 10'000; ++fault) {
    const FaultyFiles files(fault);
    MemoryBudget budget;
    try {
      const Checkpoint checkpoint = Checkpoint::open(folder_.path().string(), {}, files);
      const CpuModel model(checkpoint, {.step_rows = 8}, budget);
      EXPECT_GT(failures, 20);
      return;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::io) << error.what();
      ASSERT_EQ(budget.total(), 0u) << fault;
      ++failures;
    }
  }
  FAIL() << "no run succeeded";
}

TEST_F(ModelFaults, MemoryEndsAtEveryClaim) {
  const Checkpoint checkpoint = Checkpoint::open(folder_.path().string(), {}, SystemFiles());
  MemoryBudget whole;
  { const CpuModel model(checkpoint, {.step_rows = 8}, whole); }
  int failures = 0;
  for (uint64_t limit = 0; limit < whole.peak(); limit += whole.peak() / 200) {
    MemoryBudget budget(limit);
    EXPECT_THROW(CpuModel(checkpoint, {.step_rows = 8}, budget), Error) << limit;
    EXPECT_EQ(budget.total(), 0u);
    ++failures;
  }
  EXPECT_GE(failures, 200);
  MemoryBudget enough(whole.peak());
  EXPECT_NO_THROW(CpuModel(checkpoint, {.step_rows = 8}, enough));
}

TEST_F(ModelFaults, RoomForKeysAndValuesIsKeptFromTheStart) {
  const Checkpoint checkpoint = Checkpoint::open(folder_.path().string(), {}, SystemFiles());
  const CpuModelOptions options = {.step_rows = 8, .context = 1000};
  MemoryBudget whole;
  {
    CpuModel model(checkpoint, options, whole);
    (void)model.create_sequence();
    (void)model.create_sequence(136);
  }
  MemoryBudget tight(whole.peak());
  CpuModel model(checkpoint, options, tight);
  const SequenceId tall = model.create_sequence();
  EXPECT_THROW((void)model.create_sequence(400), Error);
  EXPECT_THROW((void)model.fork(tall), Error);
  const SequenceId small = model.create_sequence(136);
  EXPECT_EQ(tight.total(), whole.peak());

  const std::vector<int32_t> tokens(8, 5);
  std::vector<float> logits(48);
  const auto step = [&](SequenceId sequence) {
    const TokenSpan span{sequence, tokens, 1};
    model.forward(std::span(&span, 1), {logits.data(), 1, 48});
  };
  for (int at = 0; at < 17; ++at) step(small);  // 136 tokens
  const std::vector<float> last = logits;
  EXPECT_THROW(step(small), Error);
  EXPECT_EQ(model.length(small), 136);
  for (int at = 0; at < 125; ++at) step(tall);  // 1000: what was kept suffices
  EXPECT_EQ(tight.total(), whole.peak());
  ASSERT_TRUE(model.rewind(small, 128));
  step(small);
  EXPECT_EQ(logits, last);
  model.drop(tall);
  EXPECT_NO_THROW((void)model.create_sequence(400));
}

TEST_F(ModelFaults, AThrowingProgressCancelsTheLoad) {
  const Checkpoint checkpoint = Checkpoint::open(folder_.path().string(), {}, SystemFiles());
  MemoryBudget budget;
  int calls = 0;
  const auto cancel = [&](uint64_t done, uint64_t total) {
    EXPECT_LE(done, total);
    if (++calls == 7) throw Error(ErrorKind::cancelled, "stopped");
  };
  EXPECT_THROW(CpuModel(checkpoint, {.step_rows = 8}, budget, cancel), Error);
  EXPECT_EQ(calls, 7);
  EXPECT_EQ(budget.total(), 0u);
}

}  // namespace
}  // namespace lagoon
