// The progress bar: what it says at every width, and that a terminal shows it while work goes on and never afterwards.
#include "commands/progress.h"

#include "support/run_program.h"
#include "support/temporary_folder.h"
#include "support/terminal.h"

#include <fmt/format.h>

#include <gmock/gmock.h>

#include <regex>

namespace lagoon {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing_support::TemporaryFolder;
using testing_support::Terminal;

constexpr uint64_t gib = uint64_t{1} << 30;

TEST(ProgressText, HasShareRateAndTimeLeft) {
  const ProgressState state = {.what = "reading weights", .unit = "bytes", .done = 9 * gib, .total = 20 * gib, .seconds = 7.5};
  EXPECT_EQ(progress_text(state, 90), "reading weights  [#############                 ]   45 %  1.20 GiB/s  9 s left");
  const ProgressState tokens = {.what = "reading the prompt", .unit = "tokens", .done = 512, .total = 1024, .seconds = 100.0};
  EXPECT_THAT(progress_text(tokens, 80), EndsWith("50 %  5.1 tokens/s  2 min left"));
  const ProgressState plain = {.what = "measuring", .unit = "", .done = 1, .total = 4, .seconds = 3600.0};
  EXPECT_THAT(progress_text(plain, 80), EndsWith("25 %  3.0 h left"));
}

TEST(ProgressText, NeverFillsTheLine) {
  for (const std::string what : {"x", "reading weights", "8 sequences, prompt of 1024 tokens, and a name that goes on and on and on and on and on"}) {
    for (const uint64_t done : {uint64_t{0}, uint64_t{1}, 7 * gib, 20 * gib}) {
      const ProgressState state = {.what = what, .unit = "bytes", .done = done, .total = 20 * gib, .seconds = 3.0};
      for (int columns = 0; columns <= 200; ++columns) EXPECT_LT(progress_text(state, columns).size(), static_cast<size_t>(std::max(columns, 1)));
    }
  }
}

TEST(ProgressText, KeepsTheShareLongest) {
  const ProgressState state = {.what = "reading weights", .unit = "bytes", .done = gib, .total = 2 * gib, .seconds = 10.0};
  EXPECT_EQ(progress_text(state, 50), "reading weights   50 %  102.4 MiB/s  10 s left");
  EXPECT_EQ(progress_text(state, 40), "reading weights   50 %  10 s left");
  EXPECT_EQ(progress_text(state, 25), "reading weights   50 %");
  EXPECT_EQ(progress_text(state, 10), " 50 %");
  EXPECT_EQ(progress_text(state, 3), "");
}

/// What the terminal's lines were overwritten with, each picture by itself.
std::vector<std::string> pictures_of(const std::string& output) {
  std::vector<std::string> pictures;
  const std::string begin = "\r\x1b[K";
  for (size_t at = output.find(begin); at != std::string::npos;) {
    const size_t next = output.find(begin, at + 1);
    const size_t from = at + begin.size();
    pictures.push_back(output.substr(from, next == std::string::npos ? next : next - from));
    at = next;
  }
  return pictures;
}

/// A job that takes long on every machine, and ends when it is told to.
std::vector<std::string> long_job(const TemporaryFolder& folder, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {LAGOON_PROGRAM,
                                    "bench",
                                    "nano",
                                    "--kernels",
                                    "scalar",
                                    "--threads",
                                    "1",
                                    "--prompts",
                                    "2048",
                                    "--chunk",
                                    "16",
                                    "--batches",
                                    "1",
                                    "--repeats",
                                    "100",
                                    "--log-file",
                                    (folder.path() / "log").string()};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Progress, IsShownOnATerminalAndErasedByCtrlC) {
  const TemporaryFolder folder;
  Terminal terminal(long_job(folder), {.environment = {"TERM=xterm"}});
  ASSERT_TRUE(terminal.wait_for_output(" left")) << terminal.output();
  terminal.type("\x03");
  EXPECT_EQ(terminal.exit_code(), 130) << terminal.output();
  const std::vector<std::string> pictures = pictures_of(terminal.output());
  ASSERT_GE(pictures.size(), 2u);
  EXPECT_TRUE(std::regex_search(pictures.front(), std::regex("^prompt of 2048 tokens  (\\[[# ]+\\]  )? *[0-9]+ %.* left(\\^C)?$")))
      << pictures.front();
  // Erased, and then what is said at the end stands on a line of its own.
  EXPECT_THAT(pictures.back(), Not(HasSubstr(" left")));
  EXPECT_THAT(pictures.back(), HasSubstr("lagoon: stopped; 0 of 1 cases were done"));
  EXPECT_THAT(testing_support::file_text(folder.path() / "log"), Not(HasSubstr(" left"))) << "a log has no pictures";
}

TEST(Progress, FollowsTheWidthOfTheTerminal) {
  const TemporaryFolder folder;
  Terminal terminal(long_job(folder), {.columns = 90, .environment = {"TERM=xterm"}});
  ASSERT_TRUE(terminal.wait_for_output(" left")) << terminal.output();
  terminal.resize(24, 30);
  const size_t before = terminal.output().size();
  ASSERT_TRUE(terminal.wait_until([&] { return pictures_of(terminal.output().substr(before)).size() >= 4; }));
  const std::vector<std::string> pictures = pictures_of(terminal.output().substr(before));
  // The first may have been drawn before, the last may not be whole.
  for (size_t at = 1; at + 1 < pictures.size(); ++at) EXPECT_LT(pictures[at].size(), 30u) << pictures[at];
  terminal.type("\x03");
  EXPECT_EQ(terminal.exit_code(), 130);
}

TEST(Progress, IsNotShownWhereItIsNotWanted) {
  const TemporaryFolder folder;
  const std::vector<std::string> job = {LAGOON_PROGRAM, "bench", "nano",    "--kernels", "scalar",    "--threads", "1",         "--prompts", "512",
                                        "--generate",   "2",     "--chunk", "16",        "--batches", "1",         "--repeats", "1"};
  std::vector<std::string> quiet = job;
  quiet.push_back("--quiet");
  Terminal without(quiet, {.environment = {"TERM=xterm"}});
  EXPECT_EQ(without.exit_code(), 0);
  EXPECT_THAT(without.output(), Not(HasSubstr("\x1b[K")));
  Terminal dumb(job, {.environment = {"TERM=dumb"}});
  EXPECT_EQ(dumb.exit_code(), 0);
  EXPECT_THAT(dumb.output(), Not(HasSubstr("\x1b")));
}

TEST(Progress, IsShownForAnAnswerThatGoesElsewhere) {
  const TemporaryFolder folder;
  Terminal terminal({"sh", "-c",
                     "'" LAGOON_PROGRAM "' generate nano 'Tell me a story.' --raw --kernels scalar --precision oracle --threads 1 "
                     "--temperature 3 --seed 1 --logit-bias 24=-100 --logit-bias 2=-100 > '" +
                         (folder.path() / "answer").string() + "'"},
                    {.environment = {"TERM=xterm"}});
  ASSERT_TRUE(terminal.wait_for_output("answering, at most  ")) << terminal.output();
  terminal.type("\x03");
  (void)terminal.exit_code();
  EXPECT_THAT(pictures_of(terminal.output()).back(), Not(HasSubstr(" tokens/s")));
}

TEST(Progress, IsShownWhileALargeTextIsEncoded) {
  const TemporaryFolder folder;
  std::string text;
  for (int at = 0; at < 3000000; ++at) text += fmt::format("{} is no number like {}.\n", at, at * 7);
  folder.write("text", text);
  Terminal terminal({"sh", "-c", "cd '" + folder.path().string() + "' && '" LAGOON_PROGRAM "' tokenize nano - < text > ids"},
                    {.environment = {"TERM=xterm"}});
  ASSERT_TRUE(terminal.wait_for_output("encoding  [")) << terminal.output();
  terminal.type("\x03");
  EXPECT_EQ(terminal.exit_code(), 130);
  EXPECT_THAT(pictures_of(terminal.output()).back(), Not(HasSubstr(" left")));
}

TEST(Progress, NeverStandsBesideTheAnswer) {
  const TemporaryFolder folder;
  std::string prompt = "What is 17 * 24?";
  for (int at = 0; at < 80; ++at) prompt += " What is 17 * 24?";
  Terminal terminal({LAGOON_PROGRAM, "generate", "nano", prompt, "--kernels", "scalar", "--precision", "oracle", "--threads", "1", "--chunk", "8",
                     "--max-tokens", "3", "--thinking", "off"},
                    {.environment = {"TERM=xterm"}});
  EXPECT_EQ(terminal.exit_code(), 0) << terminal.output();
  ASSERT_THAT(terminal.output(), HasSubstr("tokens/s")) << "the job was too short to show anything";
  EXPECT_THAT(pictures_of(terminal.output()).back(), Not(HasSubstr(" left")));
}

}  // namespace
}  // namespace lagoon
