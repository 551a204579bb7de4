// lagoon bench: what it prints in each form, what it refuses, and that Ctrl-C keeps what is done. Nothing here depends on speed.
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"
#include "support/terminal.h"

#include "base/json.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/synthetic.h"
#include "machine/available_memory.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
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

/// bench of nano with tiny prompts, and more arguments.
ProgramRun bench_nano(const std::vector<std::string>& more) {
  std::vector<std::string> command = {"bench", "nano", "--prompts", "24,12", "--generate", "3", "--batches", "1,2", "--repeats", "2"};
  command.insert(command.end(), more.begin(), more.end());
  return run_lagoon(command);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void expect_figure(const Json& object, const char* key) {
  ASSERT_TRUE(object.contains(key)) << key;
  EXPECT_TRUE(object.at(key).is_number()) << key;
  EXPECT_GT(object.at(key).get<double>(), 0.0) << key;
}

TEST(Bench, TextHasDepthsAndBatches) {
  const ProgramRun run = bench_nano({});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  const std::vector<std::string> lines = lines_of(run.output);
  ASSERT_EQ(lines.size(), 10u) << run.output;
  EXPECT_THAT(lines[0], StartsWith("nano, "));
  EXPECT_THAT(lines[1], StartsWith("this machine reads "));
  EXPECT_THAT(lines[3], StartsWith("prompt  generated "));
  EXPECT_THAT(lines[4], StartsWith("    12 "));
  EXPECT_THAT(lines[5], StartsWith("    24 "));
  EXPECT_THAT(lines[7], StartsWith("sequences  prompt "));
  EXPECT_THAT(lines[8], testing::AllOf(StartsWith("        1 "), HasSubstr(" 1.00 ")));
  EXPECT_THAT(lines[9], StartsWith("        2 "));
}

TEST(Bench, WithoutPromptsTakesTheUsualOnesThatFit) {
  const ProgramRun result = run_lagoon({"bench", "nano", "--generate", "2", "--batches", "1", "--repeats", "1", "--format", "csv"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_THAT(result.output, HasSubstr("\n1024,2,1,"));
  EXPECT_EQ(result.output.find("\n4096,"), std::string::npos);
}

TEST(Bench, JsonHasEveryRequiredKey) {
  const ProgramRun run = bench_nano({"--format", "json", "--kernels", "scalar", "--threads", "2"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const Json json = parse_json(run.output, "output");
  EXPECT_EQ(json.at("model"), "nano");
  EXPECT_EQ(json.at("kernel_set"), "scalar");
  EXPECT_EQ(json.at("threads"), 2);
  EXPECT_TRUE(json.at("commit").is_string());
  EXPECT_TRUE(json.at("machine").at("processor").is_string());
  EXPECT_THAT(json.at("command").get<std::string>(), StartsWith("lagoon bench nano --prompts 24,12 "));
  expect_figure(json, "read_bandwidth");
  expect_figure(json, "peak_flops");
  const std::vector<std::array<int, 2>> cases = {{12, 1}, {24, 1}, {12, 2}};  // prompt, sequences
  ASSERT_EQ(json.at("results").size(), cases.size());
  for (size_t at = 0; at < cases.size(); ++at) {
    const Json& result = json.at("results").at(at);
    EXPECT_EQ(result.at("prompt_tokens"), cases[at][0]);
    EXPECT_EQ(result.at("sequences"), cases[at][1]);
    EXPECT_EQ(result.at("generated_tokens"), 3);
    EXPECT_EQ(result.at("repeats"), 2);
    for (const char* key : {"generation_tokens_per_second", "prefill_tokens_per_second", "ttft_ms", "end_to_end_seconds", "peak_bytes",
                            "ledger_peak_bytes", "decode_bytes_per_step", "decode_bound_fraction", "prefill_bound_fraction", "read_bandwidth"})
      expect_figure(result, key);
    EXPECT_FALSE(result.contains("profile"));
  }
}

TEST(Bench, PeaksAreTheModelsNotTheMeasurements) {
  const Json json = parse_json(bench_nano({"--format", "json"}).output, "output");
  const uint64_t weights = std::filesystem::file_size(std::string(LAGOON_SOURCE_DIR) + "/models/nano/model.safetensors");
  for (const Json& result : json.at("results")) {
    EXPECT_GT(result.at("ledger_peak_bytes").get<uint64_t>(), weights / 2);
    EXPECT_LT(result.at("ledger_peak_bytes").get<uint64_t>(), weights + (32u << 20));
  }
}

TEST(Bench, MarkdownAndCsvAreTables) {
  const std::vector<std::string> csv = lines_of(bench_nano({"--format", "csv"}).output);
  ASSERT_EQ(csv.size(), 4u);
  EXPECT_THAT(csv[0], StartsWith("prompt_tokens,generated_tokens,sequences,"));
  EXPECT_THAT(csv[1], StartsWith("12,3,1,"));
  for (const std::string& line : csv) EXPECT_EQ(std::count(line.begin(), line.end(), ','), 9) << line;
  const ProgramRun markdown = bench_nano({"--format", "markdown", "--profile"});
  EXPECT_THAT(markdown.output, HasSubstr("\n| prompt | generated |"));
  EXPECT_THAT(markdown.output, HasSubstr("\n| sequences | prompt |"));
  EXPECT_THAT(markdown.output, HasSubstr("Where the time went"));
}

TEST(Bench, SyntheticModelsNeedNoFiles) {
  const ProgramRun run = run_lagoon(
      {"bench", "--synthetic", "mini:4/64,layers=1", "--prompts", "8", "--generate", "2", "--batches", "1", "--repeats", "1", "--format", "csv"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(lines_of(run.output).size(), 2u);
}

TEST(Bench, PlotsAreWritten) {
  const TemporaryFolder folder;
  EXPECT_EQ(bench_nano({"--plot", folder.path() / "a.svg"}).exit_code, 0);
  EXPECT_THAT(file_text(folder.path() / "a.svg"), HasSubstr("<title>nano: generation speed over depth</title>"));
  EXPECT_EQ(bench_nano({"--plot", folder.path() / "a.png"}).exit_code, 0);
  EXPECT_THAT(file_text(folder.path() / "a.png"), StartsWith("\x89PNG"));
  expect_refused(bench_nano({"--plot", folder.path() / "no" / "a.png"}), "there is no folder");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

TEST(Bench, ComparesWhatItWrote) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.json", bench_nano({"--format", "json"}).output);
  const ProgramRun run = run_lagoon({"bench", "--compare", file, file});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  const std::vector<std::string> lines = lines_of(run.output);
  ASSERT_EQ(lines.size(), 7u) << run.output;
  EXPECT_THAT(lines[0], StartsWith("first: nano, "));
  for (size_t row = 4; row < 7; ++row) EXPECT_THAT(lines[row], HasSubstr(" 1.00 ")) << row;
  EXPECT_EQ(lines_of(run_lagoon({"bench", "--compare", file, file, "--format", "csv"}).output).size(), 4u);
  expect_refused(run_lagoon({"bench", "--compare", file, file, "--format", "json"}), "text, markdown or csv");
  expect_refused(run_lagoon({"bench", "--compare", file, folder.write("b.json", "{\"results\": 5}")}), "b.json");
  expect_refused(run_lagoon({"bench", "--compare", file, folder.path() / "absent.json"}), "absent.json");
}

TEST(Bench, WrongUsageIsOneSentenceAndExitCode2) {
  expect_refused(run_lagoon({"bench"}), "--synthetic SPEC");
  expect_refused(run_lagoon({"bench", "nano", "--machine"}), "one of these");
  expect_refused(run_lagoon({"bench", "nano", "--synthetic", "mini:4/64"}), "one of these");
  expect_refused(run_lagoon({"bench", "--synthetic", "mini"}), "MODEL:FORMAT");
  expect_refused(run_lagoon({"bench", "--machine", "--plot", "a.svg"}), "excludes");
  expect_refused(run_lagoon({"bench", "--machine", "--format", "csv"}), "text or json");
  expect_refused(run_lagoon({"bench", "--machine", "--threads", "100000"}), "--threads 100000");
  expect_refused(run_lagoon({"bench", "nano", "--disk", "x"}), "--machine");
  expect_refused(run_lagoon({"bench", "--machine", "--disk", "/dev/zero"}), "--disk /dev/zero: a regular file of 64 MiB or more");
  expect_refused(bench_nano({"--format", "xml"}), "`xml`");
  expect_refused(bench_nano({"--plot", "a.jpg"}), ".svg or .png");
  for (const char* list : {"", "0", "-1", "1k,", ",1", "1,,2", "1m", "k", "1.5k", "99999999999999999999", "2000000k"}) {
    expect_refused(run_lagoon({"bench", "nano", "--prompts", list}), "--prompts");
  }
  expect_refused(run_lagoon({"bench", "nano", "--prompts", "8", "--batches", "257"}), "--batches");
  expect_refused(run_lagoon({"bench", "nano", "--prompts", "8", "--batches", "9", "--chunk", "8"}), "raise --chunk");
  expect_refused(run_lagoon({"bench", "nano", "--generate", "1"}), "--generate 1");
  expect_refused(run_lagoon({"bench", "nano", "--repeats", "0"}), "--repeats 0");
  expect_refused(run_lagoon({"bench", "nano", "--repeats", "101"}), "--repeats 101");
  expect_refused(run_lagoon({"bench", "nano", "--prompts", "8", "--context", "9"}), "--context 9");
  expect_refused(run_lagoon({"bench", "nano", "--prompts", "4k"}), "4,096");
}

TEST(Bench, WhatDoesNotFitIsRefusedBeforeItLoads) {
  const std::string spec = "m.1:bf16";
  const std::optional<uint64_t> usable = read_available_memory().usable();
  if (!usable || *usable > open_synthetic(parse_synthetic_spec(spec)).weight_bytes()) GTEST_SKIP() << "this machine holds the largest model";
  expect_refused(run_lagoon({"bench", "--synthetic", spec, "--prompts", "8"}), "GiB are available", 1);
}

TEST(Bench, OutputThatCannotBeWrittenIsAFailure) {
  const ProgramRun run =
      run_lagoon({"bench", "nano", "--prompts", "8", "--generate", "2", "--batches", "1", "--repeats", "1"}, {.output_path = "/dev/full"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.error, HasSubstr("standard output cannot be written"));
}

TEST(Bench, TheMachineIsMeasuredAlone) {
  const ProgramRun run = run_lagoon({"bench", "--machine", "--threads", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_THAT(run.output, HasSubstr("XS-2.1 at 4 bits reads "));
  const Json json = parse_json(run_lagoon({"bench", "--machine", "--threads", "1", "--format", "json"}).output, "output");
  ASSERT_EQ(json.at("read_bandwidth").size(), 1u);
  expect_figure(json.at("read_bandwidth").at(0), "bytes_per_second");
  EXPECT_FALSE(json.at("peaks").empty());
  EXPECT_TRUE(json.at("disk_rate").is_null());
  ASSERT_EQ(json.at("models").size(), 4u);
  for (const Json& model : json.at("models")) {
    expect_figure(model, "most_tokens_per_second");
    EXPECT_LT(model.at("bytes_per_token"), model.at("weight_bytes"));
  }
}

TEST(Bench, CtrlCPrintsWhatIsDone) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "out.json";
  // The second prompt takes very long; its progress says that the first is done.
  testing_support::Terminal terminal(
      {"sh", "-c",
       "exec '" LAGOON_PROGRAM "' bench --synthetic mini:4/64,layers=1 --threads 1 --chunk 64 --prompts 1,200k --generate 2 --batches 1 --repeats 1 "
       "--format json > '" +
           out + "'"});
  ASSERT_TRUE(terminal.wait_for_output("prompt of 204800 tokens")) << terminal.output();
  terminal.type("\x03");
  EXPECT_EQ(terminal.exit_code(), 130) << terminal.output();
  const std::string& said = terminal.output();
  EXPECT_THAT(said, HasSubstr(" left"));
  EXPECT_THAT(said, HasSubstr("stopped; 1 of 2 cases were done"));
  const Json json = parse_json(file_text(out), "output");
  ASSERT_EQ(json.at("results").size(), 1u);
  EXPECT_EQ(json.at("results").at(0).at("prompt_tokens"), 1);
}

}  // namespace
}  // namespace lagoon
