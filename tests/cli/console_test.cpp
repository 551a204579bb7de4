// What the program says beside its output: --quiet, --verbose, --log-file, and colour.
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"
#include "support/terminal.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing_support::expect_refused;
using testing_support::file_text;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;
using testing_support::Terminal;

/// An answer that ends with a warning: the context is full.
std::vector<std::string> with_a_warning(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"generate", "nano", "Once upon a time", "--raw", "--temperature", "0", "--context", "12"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Console, WarningsAreShownAndQuietLeavesThemOut) {
  const ProgramRun usual = run_lagoon(with_a_warning({}));
  EXPECT_THAT(usual.error, StartsWith("lagoon: the context of 12 tokens is full"));
  const ProgramRun quiet = run_lagoon(with_a_warning({"--quiet"}));
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.error, "");
  EXPECT_EQ(quiet.output, usual.output);
}

TEST(Console, QuietStandsBeforeAndBehindTheCommandAndShowsErrors) {
  expect_refused(run_lagoon({"--quiet", "generate", "no-such-model", "hi"}), "no-such-model");
  expect_refused(run_lagoon({"generate", "no-such-model", "hi", "--quiet"}), "no-such-model");
  EXPECT_EQ(run_lagoon({"--quiet", "tokenize", "nano", "hi"}).output, "1094\n");
}

TEST(Console, VerboseSaysWhatIsChosen) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--verbose", "generate", "nano", "hi", "--max-tokens", "1", "--kernels", "scalar", "--threads", "1"},
        std::vector<std::string>{"generate", "nano", "hi", "--max-tokens", "1", "--kernels", "scalar", "--threads", "1", "--verbose"}}) {
    const ProgramRun run = run_lagoon(words);
    for (const char* part : {"config file: ", "model: ", "models/nano", "kernel set: scalar", "threads: 1", "plan: ", "memory: ", "weights: "})
      EXPECT_THAT(run.error, HasSubstr(part));
    EXPECT_THAT(run.error, StartsWith("lagoon: "));
    EXPECT_THAT(run.output, Not(HasSubstr("kernel set")));
  }
}

TEST(Console, VerboseNamesTheFolderWhereHeadersSuffice) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"plan", "nano"}, {"inspect", "nano"}, {"facts", "nano"}, {"models"}, {"tokenize", "nano", "hi"}}) {
    std::vector<std::string> verbose = words;
    verbose.push_back("--verbose");
    EXPECT_THAT(run_lagoon(verbose).error, HasSubstr("models/nano")) << words.front();
    EXPECT_EQ(run_lagoon(words).error, "") << words.front();
  }
}

TEST(Console, QuietAndVerboseExcludeEachOther) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--quiet", "--verbose", "models"}, {"models", "--verbose", "--quiet"}, {"--quiet", "models", "--verbose"}})
    expect_refused(run_lagoon(words), "--quiet and --verbose exclude each other");
}

TEST(Console, TheLogHasEverythingWithTimeAndLevel) {
  const TemporaryFolder folder;
  const std::string log = (folder.path() / "a log").string();
  const ProgramRun run = run_lagoon(with_a_warning({"--quiet", "--log-file", log}));
  EXPECT_EQ(run.error, "");
  const ProgramRun failed = run_lagoon({"--log-file", log, "generate", "no-such-model", "hi"});
  const ProgramRun refused = run_lagoon({"generate", "nano", "hi", "--log-file", log, "--temprature", "1"});
  EXPECT_EQ(refused.exit_code, 2);
  const std::string text = file_text(log);
  EXPECT_THAT(text, HasSubstr(" debug kernel set: "));
  EXPECT_THAT(text, HasSubstr(" warning the context of 12 tokens is full"));
  EXPECT_THAT(text, HasSubstr(" error no-such-model: "));
  EXPECT_THAT(text, HasSubstr(" error `--temprature` is no flag"));
  const std::regex line("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}[+-][0-9:]{5} (debug|info|warning|error) .+");
  size_t lines = 0;
  for (size_t begin = 0; begin < text.size(); ++lines) {
    const size_t end = text.find('\n', begin);
    ASSERT_NE(end, std::string::npos);
    EXPECT_TRUE(std::regex_match(text.substr(begin, end - begin), line)) << text.substr(begin, end - begin);
    begin = end + 1;
  }
  EXPECT_GT(lines, 8u);
}

TEST(Console, TheMemoryReportIsShownAndLoggedLineByLine) {
  const TemporaryFolder folder;
  const std::string log = (folder.path() / "log").string();
  const ProgramRun run = run_lagoon({"generate", "nano", "hi", "--max-tokens", "1", "--memory-report", "--quiet", "--log-file", log});
  EXPECT_THAT(run.error, HasSubstr("resident at most"));
  EXPECT_THAT(file_text(log), HasSubstr(" info resident at most"));
}

TEST(Console, ALogThatCannotBeWrittenIsRefused) {
  const TemporaryFolder folder;
  expect_refused(run_lagoon({"models", "--log-file", folder.path().string()}), "--log-file " + folder.path().string() + ": a folder is there");
  const std::string nowhere = (folder.path() / "none" / "log").string();
  expect_refused(run_lagoon({"models", "--log-file", nowhere}), nowhere);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "none"));
  expect_refused(run_lagoon({"models", "--log-file", ""}), "the value is empty");
  expect_refused(run_lagoon({"--log-file", nowhere, "models", "--log-file", nowhere}), "2 times");
}

TEST(Console, AFullDiskUnderTheLogIsToldOnceAndWorkGoesOn) {
  const ProgramRun run = run_lagoon({"tokenize", "nano", "hi", "--log-file", "/dev/full"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, "1094\n");
  EXPECT_EQ(run.error, "lagoon: --log-file /dev/full: it cannot be written: No space left on device; the log has gaps\n");
}

TEST(Console, StylesAreLeftOutWhereTheyAreNotWanted) {
  const std::vector<std::string> words = {LAGOON_PROGRAM, "generate", "nano", "What is 17 * 24?"};
  Terminal styled(words, {.environment = {"TERM=xterm", "NO_COLOR="}});
  EXPECT_EQ(styled.exit_code(), 0);
  EXPECT_THAT(styled.output(), HasSubstr("\x1b[2m"));
  for (const std::vector<std::string>& environment :
       {std::vector<std::string>{"TERM=xterm", "NO_COLOR=1"}, {"TERM=xterm", "NO_COLOR=0"}, {"TERM=dumb"}}) {
    Terminal plain(words, {.environment = environment});
    EXPECT_EQ(plain.exit_code(), 0);
    EXPECT_THAT(plain.output(), Not(HasSubstr("\x1b")));
    EXPECT_THAT(plain.output(), HasSubstr("<think>"));
  }
}

}  // namespace
}  // namespace lagoon
