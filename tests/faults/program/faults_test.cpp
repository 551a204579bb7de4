// The disk, the memory or the person at the keyboard fails the program at every possible place: one sentence, the right exit code, and nothing
// half-written.
#include "faults/program/faults.h"

#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

namespace lagoon {
namespace {

using namespace testing_support;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

const Arguments answer = {"generate", "nano", "What is 17 * 24?", "--threads", "1"};
constexpr const char* answered = "17 * 24 = 408\n";

class FaultyReads : public Faulty {};

// Each read is tried in a process of its own, forked from one run.
TEST_F(FaultyReads, OfEveryFileAtEveryPlaceAreErrorsThatNameTheFile) {
  const FaultyRun faulty = run_with_fault(answer, {.operation = "read", .at = "each", .kind = std::to_string(EIO), .path = "/models/nano/"});
  EXPECT_EQ(faulty.run.output, answered) << faulty.run.error;
  EXPECT_GT(faulty.forked.size(), 100u);
  for (const ForkedRun& forked : faulty.forked) {
    SCOPED_TRACE(forked.at);
    expect_clean_failure(forked, "Input/output error");
    EXPECT_THAT(forked.error, HasSubstr("/models/nano/"));
  }
}

TEST_F(FaultyReads, ThatAreShortOrInterruptedChangeNothing) {
  for (const char* kind : {"short", "interrupted"}) {
    const std::string path = std::string(kind) == "short" ? "/models/nano/c" : "/models/nano/";  // one byte at a time: the small files
    const FaultyRun faulty = run_with_fault(answer, {.operation = "read", .at = "0", .kind = kind, .path = path});
    EXPECT_EQ(faulty.run.output, answered) << faulty.run.error;
    EXPECT_GT(faulty.fired, 10) << kind;
  }
}

TEST_F(FaultyReads, OfAFileThatShrinksMeanwhileSaySo) {
  for (const int at : {1, 2, 3, 50, 500}) {  // before the header, between header and weights, among the weights
    SCOPED_TRACE(at);
    const HostileFolder folder;
    folder.put("model.safetensors", HostileFolder::original("model.safetensors"));
    const FaultyRun faulty = run_with_fault({"generate", folder.path(), "hi", "--threads", "1"},
                                            {.operation = "read", .at = std::to_string(at), .kind = "shrink", .path = "model.safetensors"});
    EXPECT_EQ(faulty.fired, 1);
    expect_refused(faulty.run, "model.safetensors: ");
    EXPECT_THAT(faulty.run.error, HasSubstr("the file ends at byte "));
    EXPECT_THAT(faulty.run.error, HasSubstr("has changed meanwhile"));
  }
}

class FaultyMemory : public Faulty {
 protected:
  /// @param least  places at which memory of 1 MiB and more is asked for
  static void expect_clean_at_every_place(const Arguments& arguments, size_t least, const ProgramInput& given = {}) {
    const FaultyRun faulty = run_with_fault(arguments, {.operation = "allocate", .at = "each", .kind = std::to_string(ENOMEM)}, given);
    EXPECT_EQ(faulty.run.exit_code, 0) << faulty.run.error;
    EXPECT_EQ(faulty.live_bytes, 0);
    EXPECT_GE(faulty.forked.size(), least);
    for (const ForkedRun& forked : faulty.forked) {
      SCOPED_TRACE(forked.at);
      EXPECT_EQ(forked.live_bytes, 0) << forked.error;
      if (forked.exit_code == 0) continue;  // another border of memory did as well
      expect_clean_failure(forked, "memory");
    }
  }
};

TEST_F(FaultyMemory, OfAnAnswerEndsInASentenceAtEveryPlace) { expect_clean_at_every_place(answer, 5); }

// The shipped model is small: blocks that would be large ones of a large model count too.
TEST_F(FaultyMemory, OfHundredsOfBlocksEndsInASentenceAtEveryPlace) {
  expect_clean_at_every_place(answer, 250, {.environment = {"FAULT_LEAST=4096"}});
}

TEST_F(FaultyMemory, OfLogitsEndsInASentenceAtEveryPlaceOfABiggerModel) {
  expect_clean_at_every_place({"logits", "mini:2/128,layers=4", "--ids", "-", "--threads", "1"}, 10, {.input = "[2, 3, 4]"});
}

// Texts of a megabyte, in templates that each stay below their limits.
TEST_F(FaultyMemory, OfTemplatesEndsInASentenceAtFiveHundredPlaces) {
  const TemporaryFolder folder;
  std::string lines;
  for (int line = 0; line < 4; ++line) {
    lines += R"({"template": "{% for at in range(50) %}{{ (text * 1100 ~ at ~ line)[-2:] }}{% endfor %}", "context": {"text": ")" +
             std::string(1000, 'a') + R"(", "line": )" + std::to_string(line) + "}}\n";
  }
  const FaultyRun faulty = run_with_fault({"render", "--jsonl", folder.write("lines", lines).string()},
                                          {.operation = "allocate", .at = "each", .kind = std::to_string(ENOMEM)});
  EXPECT_EQ(faulty.run.exit_code, 0) << faulty.run.error;
  EXPECT_GE(faulty.forked.size(), 500u);
  const auto whole_line = static_cast<int64_t>(faulty.run.output.size() / 4);
  for (ForkedRun forked : faulty.forked) {
    EXPECT_EQ(std::exchange(forked.output_bytes, 0) % whole_line, 0);
    expect_clean_failure(forked, "memory");
  }
}

TEST_F(FaultyMemory, OfHeadersAndTextsEndsInASentenceAtEveryPlace) {
  const HostileFolder folder;
  std::string header = "{";
  for (int at = 0; at < 100'000; ++at)
    header += fmt::format(R"({}"t{}":{{"dtype":"F32","shape":[],"data_offsets":[{},{}]}})", at == 0 ? "" : ",", at, 4 * at, 4 * at + 4);
  folder.put_header(header + "}", 400'000);
  const FaultyRun faulty = run_with_fault({"inspect", folder.path()}, {.operation = "allocate", .at = "each", .kind = std::to_string(ENOMEM)});
  EXPECT_EQ(faulty.run.exit_code, 2);
  EXPECT_GE(faulty.forked.size(), 5u);
  for (const ForkedRun& forked : faulty.forked) expect_clean_failure(forked, "memory");
}

TEST_F(FaultyMemory, ThatEndsForGoodEndsInASentence) {
  for (int from = 1;; ++from) {
    SCOPED_TRACE(from);
    const FaultyRun faulty = run_with_fault({"generate", "nano", "hi", "--max-tokens", "1"},
                                            {.operation = "allocate", .at = "from " + std::to_string(from), .kind = std::to_string(ENOMEM)});
    if (faulty.fired == 0) {
      EXPECT_EQ(faulty.run.exit_code, 0) << faulty.run.error;
      EXPECT_GT(from, 3);
      return;
    }
    expect_refused(faulty.run, "memory", 1);
    EXPECT_EQ(faulty.live_bytes, 0);
  }
}

class FaultyWrites : public Faulty {
 protected:
  /// Every command that writes one file, each with what it needs.
  static std::vector<Arguments> commands(const TemporaryFolder& folder) {
    const std::string output = folder.path() / "out";
    return {{"logits", "nano", "--ids", LAGOON_SOURCE_DIR "/tests/faults/program/ids.json", "--output", output, "--threads", "1"},
            {"facts", "nano", "--output", output},
            {"compare", "nano", "nano", "--output", output}};
  }
};

// A process for each place: what they do to the folder must not meet.
TEST_F(FaultyWrites, LeaveNothingBehindAndWhatWasThereAsItWas) {
  for (const std::string operation : {"write", "sync", "close", "link", "rename"}) {
    const TemporaryFolder folder;
    const std::string path = operation == "rename" || operation == "link" ? "" : folder.path().string();
    for (const Arguments& command : commands(folder)) {
      int refused = 0;
      for (int at = 1;; ++at) {
        SCOPED_TRACE(operation + " " + command.front() + " " + std::to_string(at));
        folder.write("out", "old");
        const FaultyRun faulty =
            run_with_fault(command, {.operation = operation, .at = std::to_string(at), .kind = std::to_string(ENOSPC), .path = path});
        EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"out"});
        if (faulty.run.exit_code == 0) {
          EXPECT_NE(file_text(folder.path() / "out"), "old");
        } else {
          expect_refused(faulty.run, "No space left on device; nothing was kept", 1);
          EXPECT_EQ(file_text(folder.path() / "out"), "old");
          ++refused;
        }
        if (faulty.fired == 0) break;
      }
      EXPECT_GE(refused, operation == "link" ? 0 : 1) << operation;
    }
  }
}

TEST_F(FaultyWrites, OfSynthLeaveNoFolder) {
  const TemporaryFolder folder;
  const Arguments synth = {"synth", "mini:2/128,layers=1", folder.path() / "model"};
  const FaultyRun counted = run_with_fault(synth, {.operation = "write", .at = "0", .kind = "28", .path = folder.path().string()});
  ASSERT_EQ(counted.run.exit_code, 0) << counted.run.error;
  ASSERT_GT(counted.operations, 8);
  std::filesystem::remove_all(folder.path() / "model");
  for (const char* operation : {"write", "sync"}) {
    for (const int at : {1, 2, counted.operations / 2, std::string(operation) == "sync" ? 7 : counted.operations}) {
      SCOPED_TRACE(std::string(operation) + " " + std::to_string(at));
      const FaultyRun faulty =
          run_with_fault(synth, {.operation = operation, .at = std::to_string(at), .kind = std::to_string(ENOSPC), .path = folder.path().string()});
      if (faulty.fired == 0) {
        std::filesystem::remove_all(folder.path() / "model");
        continue;
      }
      expect_refused(faulty.run, "No space left on device; nothing was kept", 1);
      EXPECT_THAT(names_in(folder.path()), IsEmpty());
    }
  }
}

TEST(FullDevice, EveryCommandThatPrintsSaysSo) {
  for (const Arguments& command :
       {Arguments{"generate", "nano", "hi", "--json", "--max-tokens", "1"}, Arguments{"inspect", "nano"}, Arguments{"plan", "nano"},
        Arguments{"facts", "nano"}, Arguments{"kv", "nano"}, Arguments{"compare", "nano", "nano"}, Arguments{"models"},
        Arguments{"tokenize", "nano", "hi"}, Arguments{"logits", "nano", "--ids", LAGOON_SOURCE_DIR "/tests/faults/program/ids.json"},
        Arguments{"--help"}, Arguments{"--version"}}) {
    SCOPED_TRACE(command.front());
    const ProgramRun run = run_lagoon(command, {.output_path = "/dev/full"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.error, HasSubstr("standard output cannot be written"));
    EXPECT_EQ(std::count(run.error.begin(), run.error.end(), '\n'), 1) << run.error;
  }
}

}  // namespace
}  // namespace lagoon
