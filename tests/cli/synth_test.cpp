// lagoon synth: what it writes, what it refuses, and that nothing is left of what it could not finish.
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

#include "base/json.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/synthetic.h"
#include "text/tokenizer.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing_support::expect_refused;
using testing_support::file_text;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

uint64_t disk_bytes(const std::filesystem::path& file) {
  struct stat status = {};
  EXPECT_EQ(stat(file.c_str(), &status), 0);
  return static_cast<uint64_t>(status.st_blocks) * 512;
}

const char* const spec = "mini:2/128,layers=2,seed=3";
const char* const shard = "model-00001-of-00001.safetensors";

TEST(Synth, WritesACheckpointThatRuns) {
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "model";
  const ProgramRun run = run_lagoon({"synth", spec, out});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const SyntheticCheckpoint expected(parse_synthetic_spec(spec));
  EXPECT_THAT(run.output, HasSubstr("7 files"));
  EXPECT_THAT(run.output, HasSubstr("GiB"));
  EXPECT_THAT(run.output, HasSubstr("parameters"));
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(names_in(out), (std::set<std::string>{"chat_template.jinja", "config.json", "generation_config.json", "model.safetensors.index.json",
                                                  shard, "tokenizer.json", "tokenizer_config.json"}));

  // The file is the virtual one, byte for byte.
  const auto written = SystemFiles().open(out / shard);
  ASSERT_EQ(written->size(), expected.file_bytes());
  std::vector<std::byte> found(written->size());
  std::vector<std::byte> made(written->size());
  written->read_at(0, found);
  expected.open_shard(0, "")->read_at(0, made);
  EXPECT_EQ(std::memcmp(found.data(), made.data(), made.size()), 0);
  EXPECT_EQ(Checkpoint::open(out, {}, SystemFiles()).config().layer_count(), 2);

  const ProgramRun answer = run_lagoon({"generate", out, "hi", "--max-tokens", "2", "--json"});
  ASSERT_EQ(answer.exit_code, 0) << answer.error;
  EXPECT_EQ(parse_json(answer.output, "output").at("completion_tokens"), 2);
}

TEST(Synth, TheStandInTokenizerHasATextForEveryId) {
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "model";
  ASSERT_EQ(run_lagoon({"synth", "mini:2/128,layers=1", out, "--holes"}).exit_code, 0);
  const Tokenizer tokenizer = Tokenizer::load(out / "tokenizer.json");
  EXPECT_EQ(tokenizer.vocabulary_size(), 100352);
  for (int32_t id = 0; id < tokenizer.vocabulary_size(); ++id) {
    const std::array<int32_t, 1> one = {id};
    ASSERT_NE(tokenizer.decode(one), "") << id;
  }
  const std::string text = "Any text: \xc3\xa4, 17 * 24\n";
  EXPECT_EQ(tokenizer.decode(tokenizer.encode_data(text)), text);
  EXPECT_EQ(tokenizer.encode("</assistant>"), (std::vector<int32_t>{24}));
  EXPECT_EQ(tokenizer.encode("!", true), (std::vector<int32_t>{2, 70}));
  const ProgramRun rendered = run_lagoon({"tokenize", out, "--decode", "100351 326"});
  EXPECT_EQ(rendered.output, " w100351 w326\n") << rendered.error;
}

TEST(Synth, HolesTakeNoDisk) {
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "model";
  const ProgramRun run = run_lagoon({"synth", "s-2.1:s-2.1-oq4e", out, "--holes"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_THAT(run.output, HasSubstr("117,561,977,600 parameters"));
  EXPECT_THAT(run.output, HasSubstr("holes"));
  uint64_t size = 0;
  for (const std::string& name : names_in(out)) {
    if (!name.ends_with(".safetensors")) continue;
    size += std::filesystem::file_size(out / name);
    EXPECT_LT(disk_bytes(out / name), 1u << 20) << name;
  }
  EXPECT_EQ(size, SyntheticCheckpoint(parse_synthetic_spec("s-2.1:s-2.1-oq4e")).file_bytes());
  EXPECT_EQ(Checkpoint::open(out, {}, SystemFiles()).config().layer_count(), 48);
}

TEST(Synth, WhatIsThereIsNotTouched) {
  const TemporaryFolder folder;
  folder.write("notes.txt", "mine");
  expect_refused(run_lagoon({"synth", spec, folder.path()}), "is not empty", 2);
  expect_refused(run_lagoon({"synth", spec, folder.path() / "notes.txt"}), "a file is there", 2);
  expect_refused(run_lagoon({"synth", spec, folder.path() / "no" / "where"}), "cannot be made");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"notes.txt"});
  EXPECT_EQ(file_text(folder.path() / "notes.txt"), "mine");
}

TEST(Synth, SpecsThatAreNotUnderstoodAreRefusedBeforeAnythingIsMade) {
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "model";
  expect_refused(run_lagoon({"synth", "xs-3:4/64", out}), "models are xs.2, xs-2.1", 2);
  expect_refused(run_lagoon({"synth", "xs-2.1:7/64", out}), "formats are", 2);
  expect_refused(run_lagoon({"synth", "xs-2.1:4/64,layers=41", out}), "1 to 40", 2);
  expect_refused(run_lagoon({"synth", "", out}), "empty", 2);
  expect_refused(run_lagoon({"synth", "xs-2.1:4/64"}), "OUT", 2);
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Synth, ADiskThatIsTooSmallIsToldBeforeWriting) {
  std::error_code error;
  const TemporaryFolder folder;
  if (std::filesystem::space(folder.path(), error).available > 400'000'000'000u) GTEST_SKIP() << "this disk holds the largest checkpoint";
  const std::filesystem::path out = folder.path() / "model";
  expect_refused(run_lagoon({"synth", "m.1:bf16", out}), "GiB are needed", 1);
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Synth, AFullDiskLeavesNothingBehind) {
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "model";
  expect_refused(run_lagoon({"synth", spec, out}, {.file_limit = 20'000'000}), "writing failed", 1);
  EXPECT_FALSE(std::filesystem::exists(out));
  expect_refused(run_lagoon({"synth", spec, out, "--holes"}, {.file_limit = 20'000'000}), "writing failed", 1);
  EXPECT_FALSE(std::filesystem::exists(out));

  // An empty folder that was there stays, empty; what fails last takes away what was written first.
  std::filesystem::create_directory(out);
  expect_refused(run_lagoon({"synth", "mini:2/128,layers=1", out, "--holes"}, {.file_limit = 2'000'000}), "writing failed", 1);
  EXPECT_EQ(names_in(out), std::set<std::string>{});
}

TEST(Synth, CtrlCRemovesWhatWasWritten) {
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "model";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    execl(LAGOON_PROGRAM, LAGOON_PROGRAM, "synth", "mini:8/32", out.c_str(), nullptr);  // 1.5 GiB, of which little is written
    _exit(127);
  }
  int status = 0;
  while (!std::filesystem::exists(out) && waitpid(child, &status, WNOHANG) == 0) std::this_thread::yield();
  kill(child, SIGINT);
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace lagoon
