// SIGINT, SIGTERM and SIGHUP in every phase: they come at a certain read, write or step of the model, not after a certain time.
#include "faults/program/faults.h"

#include <csignal>
#include <thread>

namespace lagoon {
namespace {

using namespace testing_support;
using testing::HasSubstr;
using testing::IsEmpty;

struct Signal {
  int number;
  const char* said;
};
constexpr Signal signals[] = {{SIGINT, "stopped by Ctrl-C"}, {SIGTERM, "stopped by SIGTERM"}, {SIGHUP, "stopped by SIGHUP"}};

class Signals : public Faulty {
 protected:
  static std::string once(int signal) { return "signal " + std::to_string(signal); }

  /// The signal came, and the program left with a sentence and its code. A second of processor time more would have ended it otherwise.
  static void expect_stopped(const FaultyRun& faulty, const Signal& signal) {
    EXPECT_EQ(faulty.fired, 1);
    EXPECT_EQ(faulty.run.exit_code, 128 + signal.number) << faulty.run.error;
    EXPECT_THAT(faulty.run.error, HasSubstr(signal.said));
  }
};

TEST_F(Signals, WhileWeightsAreRead) {
  for (const Signal& signal : signals) {
    for (const int at : {10, 400}) {
      const FaultyRun faulty = run_with_fault(
          {"generate", "nano", "hi"}, {.operation = "read", .at = std::to_string(at), .kind = once(signal.number), .path = "model.safetensors"},
          {.cpu_limit = most_cpu_seconds});
      expect_stopped(faulty, signal);
      EXPECT_EQ(faulty.run.output, "");
      EXPECT_EQ(faulty.live_bytes, 0);
    }
  }
}

TEST_F(Signals, InPrefillAndInDecode) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "a step is noticed where several threads compute";
  std::string prompt;
  for (int word = 0; word < 500; ++word) prompt += "word ";
  const Arguments prefill = {"generate", "nano", prompt, "--chunk", "16", "--threads", "2", "--max-tokens", "5"};
  const Arguments decode = {"generate", "nano", "Tell me a story.", "--threads", "2", "--logit-bias", "2=-100", "--logit-bias", "24=-100"};
  for (const Signal& signal : signals) {
    for (const auto& [command, step] : {std::pair(prefill, "9"), std::pair(decode, "21")}) {
      const FaultyRun faulty =
          run_with_fault(command, {.operation = "step", .at = step, .kind = once(signal.number)}, {.cpu_limit = most_cpu_seconds + 1});
      expect_stopped(faulty, signal);
      EXPECT_EQ(faulty.live_bytes, 0);
    }
  }
}

TEST_F(Signals, WhileACheckpointIsWritten) {
  for (const Signal& signal : signals) {
    for (const int at : {1, 3, 8}) {
      const TemporaryFolder folder;
      const FaultyRun faulty =
          run_with_fault({"synth", "mini:2/128,layers=1", folder.path() / "model"},
                         {.operation = "write", .at = std::to_string(at), .kind = once(signal.number), .path = folder.path().string()});
      expect_stopped(faulty, signal);
      EXPECT_THAT(names_in(folder.path()), IsEmpty());
    }
  }
}

TEST_F(Signals, WhileAFileIsWrittenLeaveNothingOfIt) {
  for (const Signal& signal : signals) {
    const TemporaryFolder folder;
    const FaultyRun faulty =
        run_with_fault({"logits", "nano", "--ids", LAGOON_SOURCE_DIR "/tests/faults/program/ids.json", "--output", folder.path() / "out"},
                       {.operation = "write", .at = "1", .kind = once(signal.number), .path = folder.path().string()});
    EXPECT_EQ(faulty.run.exit_code, 128 + signal.number) << faulty.run.error;
    EXPECT_THAT(names_in(folder.path()), IsEmpty());
  }
}

TEST_F(Signals, TheSecondEndsAtOnceWhicheverItIs) {
  for (const char* both : {"signals 2 2", "signals 2 15", "signals 15 2", "signals 15 15"}) {
    const FaultyRun faulty =
        run_with_fault({"generate", "nano", "hi", "--threads", "1"}, {.operation = "read", .at = "300", .kind = both, .path = "model.safetensors"});
    EXPECT_THAT(faulty.run.exit_code, testing::AnyOf(128 + SIGINT, 128 + SIGTERM)) << both;
    EXPECT_EQ(faulty.run.error, "") << both;  // ended by the signal, not by a sentence
  }
}

TEST(ClosedPipe, EndsTheProgramSilently) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const ProgramRun run = run_lagoon({"generate", "nano", "hi", "--max-tokens", "5"}, {.output_path = "/proc/self/fd/" + std::to_string(ends[1])});
  close(ends[1]);
  EXPECT_EQ(run.exit_code, 128 + SIGPIPE);
  EXPECT_EQ(run.error, "");
}

// As nohup asks, and a shell for what it runs in the background.
TEST_F(Signals, ThatAreIgnoredStayIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  const FaultyRun faulty =
      run_with_fault({"generate", "nano", "What is 17 * 24?"}, {.operation = "read", .at = "300", .kind = once(SIGHUP), .path = "model.safetensors"});
  std::signal(SIGHUP, SIG_DFL);
  EXPECT_EQ(faulty.run.output, "17 * 24 = 408\n") << faulty.run.error;
}

}  // namespace
}  // namespace lagoon
