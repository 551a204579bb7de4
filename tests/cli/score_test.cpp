// lagoon score: perplexity of a text, by windows, as text and JSON, and what it refuses. Values: tests/conformance/engine/scoring_test.cpp.
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

#include "base/json.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <vector>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::expect_refused;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;

const std::string sense = "What is the capital of France? The capital of France is Paris.";

Json score(std::vector<std::string> arguments, const std::string& input = {}) {
  arguments.insert(arguments.begin(), {"score", "nano", "--json"});
  const ProgramRun run = run_lagoon(arguments, {.input = input});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  return Json::parse(run.output, nullptr, false);
}

TEST(Score, PerplexityIsTheExponentialOfTheMeanOfItsTokens) {
  const TemporaryFolder folder;
  const Json result = score({folder.write("text.txt", sense), "--token-logprobs"});

  const Json& tokens = result["token_logprobs"];
  ASSERT_GT(tokens.size(), 5u);
  EXPECT_EQ(result["tokens"], tokens.size() + 1);
  EXPECT_EQ(result["scored_tokens"], tokens.size());
  double sum = 0.0;
  std::string text;
  for (const Json& token : tokens) {
    sum -= token["logprob"].get<double>();
    text += token["text"].get<std::string>();
    EXPECT_LE(token["logprob"].get<double>(), 0.0);
  }
  const double mean = sum / static_cast<double>(tokens.size());
  EXPECT_NEAR(result["mean_nll"].get<double>(), mean, 1e-9);
  EXPECT_NEAR(result["perplexity"].get<double>(), std::exp(mean), 1e-6);
  EXPECT_NEAR(result["perplexity_standard_error"].get<double>(), std::exp(mean) * result["standard_error"].get<double>(), 1e-6);
  EXPECT_THAT(text, HasSubstr("capital of France is Paris."));
}

TEST(Score, SenseIsLikelierThanNonsense) {
  EXPECT_LT(score({}, sense)["perplexity"].get<double>(), score({}, "Paris France of What the? is capital.")["perplexity"].get<double>());
}

TEST(Score, AFileAndStandardInputAreTheSameTextAndChunksAndThreadsChangeNoBit) {
  const TemporaryFolder folder;
  const std::string file = folder.write("text.txt", sense);
  const Json expected = score({file})["mean_nll"];
  EXPECT_EQ(score({}, sense)["mean_nll"], expected);
  EXPECT_EQ(score({"-"}, sense)["mean_nll"], expected);
  EXPECT_EQ(score({file, "--chunk", "1", "--threads", "3"})["mean_nll"], expected);
  EXPECT_EQ(score({file, "--kernels", "scalar"})["mean_nll"], expected);
}

TEST(Score, IdsAreScoredWithoutATokenizer) {
  const TemporaryFolder folder;
  const Json whole = score({"--token-logprobs"}, sense);
  std::vector<int32_t> ids;
  for (const Json& token : whole["token_logprobs"]) ids.push_back(token["id"].get<int32_t>());
  const Json alone = score({"--ids", folder.write("ids.json", Json(ids).dump())});
  EXPECT_EQ(alone["tokens"], ids.size());
  EXPECT_EQ(alone["scored_tokens"], ids.size() - 1);
}

TEST(Score, WindowsOverlapByHalfUnlessAStrideIsGiven) {
  std::string text;
  for (int round = 0; round < 10; ++round) text += sense + " ";
  const Json halves = score({"--context", "32"}, text);
  EXPECT_EQ(halves["context"], 32);
  EXPECT_EQ(halves["stride"], 16);
  EXPECT_EQ(halves["scored_tokens"].get<int64_t>(), halves["tokens"].get<int64_t>() - 1);

  const Json apart = score({"--context", "32", "--stride", "32"}, text);
  const auto tokens = apart["tokens"].get<int64_t>();
  EXPECT_EQ(apart["scored_tokens"].get<int64_t>(), tokens - (tokens + 31) / 32);  // the first of each window has nothing before it
}

TEST(Score, TextOutputSaysWhatWasScored) {
  const ProgramRun run = run_lagoon({"score", "nano", "--context", "8"}, {.input = sense});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_THAT(run.output, HasSubstr("in windows of 8 that begin every 4"));
  EXPECT_THAT(run.output, HasSubstr("nats a token"));
  EXPECT_THAT(run.output, HasSubstr("perplexity"));

  const ProgramRun listed = run_lagoon({"score", "nano", "--token-logprobs"}, {.input = sense});
  EXPECT_THAT(listed.output, HasSubstr("\" Paris\""));
}

TEST(Score, LedgerEqualsThePlan) {
  const Json memory = score({"--memory-report"}, sense)["memory"];
  ASSERT_FALSE(memory["lines"].empty());
  for (const Json& line : memory["lines"]) EXPECT_EQ(line["planned_bytes"], line["held_bytes"]) << line;
}

TEST(Score, WhatCannotBeScoredIsRefused) {
  const TemporaryFolder folder;
  const std::string file = folder.write("text.txt", sense);
  expect_refused(run_lagoon({"score", "nano"}, {.input = ""}), "two are the least");
  expect_refused(run_lagoon({"score", "nano"}, {.input = "a\xff"}), "standard input: ");
  expect_refused(run_lagoon({"score", "nano", folder.write("bad.txt", "a\xff")}), "bad.txt: ");
  expect_refused(run_lagoon({"score", "nano", folder.path() / "none.txt"}), "none.txt");
  expect_refused(run_lagoon({"score", "nano", folder.path()}), folder.path());
  expect_refused(run_lagoon({"score", "nano", file, "--context", "1"}), "--context 1: write 2 or more");
  expect_refused(run_lagoon({"score", "nano", file, "--context", "99999999"}), "max_position_embeddings");
  expect_refused(run_lagoon({"score", "nano", file, "--context", "16", "--stride", "17"}), "--stride 17: write 1 to 16");
  expect_refused(run_lagoon({"score", "nano", file, "--stride", "0"}), "--stride 0");
  expect_refused(run_lagoon({"score", "nano", file, "--ids", file}), "not both");
  expect_refused(run_lagoon({"score", "nano", "--ids", folder.write("a.json", "[[1, 2], [3, 4]]")}), "2 lists of token ids");
  expect_refused(run_lagoon({"score", "nano", "--ids", folder.write("b.json", "[1, 99999]")}), "token id 99999");
  expect_refused(run_lagoon({"score", "nano", "--ids", folder.write("c.json", "[1]")}), "two are the least");
  expect_refused(run_lagoon({"score", "nano", file, "--memory-limit", "1MiB"}), "are available", 1);
}

}  // namespace
}  // namespace lagoon
