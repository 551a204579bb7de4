// Help, version, and what is said to what cannot be understood.
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace lagoon {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing_support::expect_refused;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The commands that the program's help lists.
std::vector<std::string> all_commands() {
  std::vector<std::string> commands;
  bool listed = false;
  for (const std::string& line : lines_of(run_lagoon({"--help"}, {.environment = {"COLUMNS=100"}}).output)) {
    if (line.empty()) listed = false;
    if (listed && line.size() > 3 && line[2] != ' ') commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    if (line == "Commands:") listed = true;
  }
  EXPECT_GE(commands.size(), 15u);
  return commands;
}

/// The lines of a command's examples, as they would be typed.
std::vector<std::string> examples_of(const std::string& command) {
  std::vector<std::string> examples;
  bool listed = false;
  for (const std::string& line : lines_of(run_lagoon({command, "--help"}).output)) {
    if (line.empty()) listed = false;
    if (listed && line.rfind("    ", 0) == 0) examples.push_back(line.substr(4));
    if (line == "Examples:") listed = true;
  }
  return examples;
}

TEST(Help, EveryExampleOfEveryCommandWorks) {
  const std::string path = fs::path(LAGOON_PROGRAM).parent_path().string() + ":" + std::getenv("PATH");
  for (const std::string& command : all_commands()) {
    const std::vector<std::string> examples = examples_of(command);
    EXPECT_GE(examples.size(), 2u) << command;
    for (const std::string& example : examples) {
      SCOPED_TRACE(example);
      EXPECT_THAT(example, HasSubstr("lagoon " + command));
      const TemporaryFolder folder;
      folder.write("example", example);
      const std::string run =
          "cd '" + folder.path().string() + "' && export PATH='" + path + "' && bash -e -o pipefail example > output 2>&1 < /dev/null";
      EXPECT_EQ(std::system(run.c_str()), 0) << testing_support::file_text(folder.path() / "output");
    }
  }
}

TEST(Help, FitsTheWidthThatIsAsked) {
  for (const std::string& command : all_commands()) {
    for (const auto& [columns, most] : {std::pair{"60", 60u}, {"80", 80u}, {"1", 40u}, {"100000", 100u}, {"x", 80u}}) {
      const ProgramRun run = run_lagoon({command, "--help"}, {.environment = {std::string("COLUMNS=") + columns}});
      EXPECT_EQ(run.exit_code, 0);
      bool examples = false;
      for (const std::string& line : lines_of(run.output)) {
        examples = examples || line == "Examples:";
        // What is copied stays on one line.
        const size_t begin = line.find_first_not_of(' ');
        const bool one_word = begin == std::string::npos || line.find(' ', begin) == std::string::npos;
        if (examples || one_word || line.rfind("  -", 0) == 0 || line.rfind("Usage: ", 0) == 0 || line.find("MODEL:FORMAT[") != std::string::npos)
          continue;
        EXPECT_LE(line.size(), most) << command << ": " << line;
      }
    }
  }
}

TEST(Help, GroupsOptions) {
  const std::string help = run_lagoon({"generate", "--help"}).output;
  for (const char* group : {"\nArguments:\n", "\nOptions:\n", "\nSampling:\n", "\nMemory:\n", "\nOf every command:\n", "\nExamples:\n"})
    EXPECT_THAT(help, HasSubstr(group));
  EXPECT_THAT(help, HasSubstr("--kv bf16|f32"));
  EXPECT_THAT(help, Not(HasSubstr("--mtp"))) << "what is only refused is not offered";
}

TEST(Version, NamesTheBuildAndTheKernels) {
  const ProgramRun run = run_lagoon({"--version"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(lines_of(run.output).front(), testing::MatchesRegex("lagoon [0-9]+\\.[0-9]+\\.[0-9]+"));
  for (const char* part : {"\ncommit ", "\ncompiler ", "\nbuild type ", "\nkernel set ", "avx512-vnni, avx512, avx2, scalar"})
    EXPECT_THAT(run.output, HasSubstr(part));
}

TEST(Usage, NoCommandShowsHelpOnStandardError) {
  const ProgramRun run = run_lagoon({});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.output, "");
  EXPECT_THAT(run.error, HasSubstr("Commands:"));
  EXPECT_THAT(run.error, HasSubstr("lagoon: a command is needed"));
}

TEST(Usage, HelpIsAlsoACommand) {
  EXPECT_EQ(run_lagoon({"help"}).output, run_lagoon({"--help"}).output);
  EXPECT_EQ(run_lagoon({"help", "chat"}).output, run_lagoon({"chat", "--help"}).output);
  expect_refused(run_lagoon({"help", "chatt"}), "did you mean `chat`?");
}

TEST(Usage, ASmallStackIsRaisedOrSaid) {
  for (const auto& [limit, code] : {std::pair<const char*, int>{"-S -s 64", 0}, {"-s 64", 2}}) {
    const int status = std::system(("ulimit " + std::string(limit) + " && '" LAGOON_PROGRAM "' tokenize nano hi > /dev/null 2> /dev/null").c_str());
    EXPECT_EQ(WEXITSTATUS(status), code) << limit;
  }
}

TEST(Usage, TheNearestNameIsSuggested) {
  expect_refused(run_lagoon({"generat"}), "did you mean `generate`?");
  expect_refused(run_lagoon({"modles"}), "did you mean `models`?");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--temprature", "1"}), "did you mean `--temperature`?");
  expect_refused(run_lagoon({"generate", "nano", "hi", "--temprature=1"}), "did you mean `--temperature`?");
  expect_refused(run_lagoon({"--quite", "models"}), "did you mean `--quiet`?");
  EXPECT_THAT(run_lagoon({"xyzzy"}).error, Not(HasSubstr("did you mean")));
  expect_refused(run_lagoon({"generate", "nano", "two", "words"}), "`words` is one word too many");
}

TEST(Usage, WordsOfAnyKindAreOneSentence) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"\xff\xfe"},
                                                {""},
                                                {"-"},
                                                {"--"},
                                                {"--", "models"},
                                                {"---"},
                                                {"-x"},
                                                {"--=x"},
                                                {"generate", ""},
                                                {"generate", "nano", "hi", "--\xff\n"},
                                                {"generate", "nano", "hi", "--threads="},
                                                {"generate", "nano", "hi", "--threads"},
                                                {"generate", "nano", "hi", std::string(100000, 'x')},
                                                {std::string(100000, '-')}}) {
    const ProgramRun run = run_lagoon(words);
    EXPECT_EQ(run.exit_code, 2) << words.front();
    EXPECT_THAT(run.error, StartsWith("lagoon: "));
    EXPECT_EQ(std::count(run.error.begin(), run.error.end(), '\n'), 1) << run.error;
    EXPECT_LT(run.error.size(), 2000u);
  }
}

TEST(Usage, AHundredThousandWordsAreRefused) {
  std::vector<std::string> words = {"generate", "nano"};
  words.resize(100000, "word");
  expect_refused(run_lagoon(words), "one word too many");
  words.assign(100000, "--quiet");
  words.push_back("tokenize");
  words.insert(words.end(), {"nano", "hi"});
  EXPECT_EQ(run_lagoon(words).output, "1094\n");
}

int status_of(const std::string& command) {
  const int status = std::system(("lagoon='" LAGOON_PROGRAM "'; " + command).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Streams, AClosedOrFullOutputIsAFailureThatIsSaid) {
  const TemporaryFolder folder;
  const std::string error = (folder.path() / "error").string();
  for (const std::string words :
       {"--help", "--version", "models", "tokenize nano hi", "config", "man", "completion bash", "generate nano hi --thinking off --max-tokens 3"}) {
    for (const std::string where : {">&-", "> /dev/full"}) {
      SCOPED_TRACE(words + " " + where);
      EXPECT_EQ(status_of("\"$lagoon\" " + words + " 2> '" + error + "' " + where), 1);
      EXPECT_THAT(testing_support::file_text(error), HasSubstr("standard output cannot be written"));
    }
  }
  // A log does not take the place of a closed output.
  EXPECT_EQ(status_of("\"$lagoon\" tokenize nano hi --log-file '" + (folder.path() / "log").string() + "' >&- 2> /dev/null"), 1);
  EXPECT_THAT(testing_support::file_text(folder.path() / "log"), Not(HasSubstr("1094 290\n1")));
  EXPECT_EQ(status_of("\"$lagoon\" tokenize nano hi 2>&- > /dev/null"), 0);
  EXPECT_EQ(status_of("\"$lagoon\" generate no-such-model hi 2>&- > /dev/null"), 2);
  EXPECT_EQ(status_of("\"$lagoon\" <&- >&- 2>&-"), 2);
}

TEST(Streams, AReaderThatLeavesEndsTheProgramQuietly) {
  for (const std::string words : {"--help", "man --markdown", "inspect nano --tensors", "models"})
    EXPECT_EQ(status_of("\"$lagoon\" " + words + " 2>&1 | head -n 1 > /dev/null"), 0);
}

TEST(Streams, LocalesChangeNothing) {
  const std::string usual = run_lagoon({"kv", "nano"}).output;
  for (const char* locale : {"LC_ALL=tr_TR.UTF-8", "LC_ALL=C", "LC_ALL=de_DE.UTF-8", "LC_ALL=nonsense"})
    EXPECT_EQ(run_lagoon({"kv", "nano"}, {.environment = {locale}}).output, usual) << locale;
}

}  // namespace
}  // namespace lagoon
