// lagoon facts and lagoon kv, as a user runs them.
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

#include "base/json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <string>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::expect_refused;
using testing_support::file_text;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;

Json fact(const Json& document, const std::string& key) {
  for (const Json& one : document.at("facts")) {
    if (one.at("key") == key) return one;
  }
  ADD_FAILURE() << "no fact " << key;
  return {};
}

Json facts_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "facts");
  arguments.insert(arguments.end(), {"--format", "json"});
  const ProgramRun run = run_lagoon(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  return parse_json(run.output, "output");
}

TEST(Facts, OfAPublishedModelAndOfItsCheckpointsOnADiskAreOneAndTheSame) {
  const Json published = facts_json({"laguna-s-2.1"});
  EXPECT_EQ(published["model"]["kind"], "published");
  EXPECT_EQ(published["model"]["published_as"], "laguna-s-2.1");
  EXPECT_EQ(fact(published, "params.counted_total")["value"], 117561977600);
  EXPECT_EQ(fact(published, "kv.bytes_at_context")["value"], 6517948416);

  const TemporaryFolder folder;
  const std::string out = (folder.path() / "some name").string();
  ASSERT_EQ(run_lagoon({"synth", "s-2.1:s-2.1-oq4e", out, "--holes"}).exit_code, 0);
  const Json stored = facts_json({out});
  EXPECT_EQ(stored["model"]["kind"], "checkpoint");
  ASSERT_EQ(stored["facts"].size(), published["facts"].size());
  for (size_t at = 0; at < stored["facts"].size(); ++at) {
    Json of_shape = published["facts"][at];
    // What is not on this machine has no headers: the shape implies them, and its facts say so.
    std::string place = of_shape["source"]["place"];
    const std::string implied = "headers that the published shape implies";
    if (place.starts_with(implied)) of_shape["source"]["place"] = "tensor headers" + place.substr(implied.size());
    EXPECT_EQ(stored["facts"][at], of_shape);
  }
}

TEST(Facts, TheKvRequestIsTheUsers) {
  const Json bf16 = facts_json({"s-2.1:4/64", "--context", "32k"});
  EXPECT_EQ(fact(bf16, "kv.bytes_at_context")["value"], 49152 * 32768 + 147456 * 512);
  const Json q8 = facts_json({"s-2.1:4/64", "--context", "131072", "--kv", "q8"});
  EXPECT_EQ(fact(q8, "kv.global_bytes_per_token")["value"], 12 * 2176);
}

TEST(Facts, AreATableAndMarkdown) {
  const ProgramRun table = run_lagoon({"facts", "nano"});
  ASSERT_EQ(table.exit_code, 0) << table.error;
  EXPECT_THAT(table.output, HasSubstr("nano: has the shape of Lagoon nano"));
  EXPECT_THAT(table.output, HasSubstr("config /hidden_size"));
  EXPECT_THAT(table.output, HasSubstr("Not disclosed"));
  const ProgramRun markdown = run_lagoon({"facts", "nano", "--format", "markdown", "--definitions"});
  ASSERT_EQ(markdown.exit_code, 0) << markdown.error;
  EXPECT_THAT(markdown.output, HasSubstr("| `shape.d_model` | 128 |"));
  EXPECT_THAT(markdown.output, HasSubstr("width of the residual stream"));
}

TEST(Facts, GoIntoAFile) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "facts.json").string();
  const ProgramRun run = run_lagoon({"facts", "nano", "--format", "json", "--output", path});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.output, "");
  EXPECT_EQ(parse_json(file_text(path), "facts.json")["model"]["published_as"], "nano");
}

TEST(Facts, WrongRequestsAreRefused) {
  expect_refused(run_lagoon({"facts"}), "MODEL");
  expect_refused(run_lagoon({"facts", "nano", "--format", "csv"}), "--format `csv`");
  expect_refused(run_lagoon({"facts", "nano", "--kv", "q5"}), "--kv `q5`");
  expect_refused(run_lagoon({"facts", "nano", "--context", "0"}), "--context `0`");
  expect_refused(run_lagoon({"facts", "nano", "--context", "9999999999999999999999"}), "1 to 2^40");
  expect_refused(run_lagoon({"facts", "/no/such/model"}), "/no/such/model");
  expect_refused(run_lagoon({"facts", "s-2.1:9/64"}), "9/64");
  expect_refused(run_lagoon({"facts", "nano", "--output", "/no/such/folder/x"}), "/no/such/folder");
}

TEST(Kv, IsATableOverContextsAndStorage) {
  const ProgramRun table = run_lagoon({"kv", "s-2.1:4/64"});
  ASSERT_EQ(table.exit_code, 0) << table.error;
  EXPECT_THAT(table.output, HasSubstr("6,517,948,416"));
  EXPECT_THAT(table.output, HasSubstr("1,048,576"));
  const ProgramRun json = run_lagoon({"kv", "s-2.1:4/64", "--contexts", "4k,1M", "--format", "json"});
  ASSERT_EQ(json.exit_code, 0) << json.error;
  const Json rows = parse_json(json.output, "output").at("rows");
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(rows[4]["context"], 1048576);
  EXPECT_EQ(rows[4]["storage"], "bf16");
  EXPECT_EQ(rows[4]["bytes"], int64_t{49152} * 1048576 + 75497472);
  EXPECT_EQ(rows[7]["storage"], "q4");
  const ProgramRun markdown = run_lagoon({"kv", "nano", "--format", "markdown", "--contexts", "1k,8k"});
  ASSERT_EQ(markdown.exit_code, 0) << markdown.error;
  EXPECT_THAT(markdown.output, HasSubstr("|"));
  EXPECT_THAT(markdown.output, HasSubstr("made for 4,096 tokens"));
}

TEST(Kv, WrongRequestsAreRefused) {
  expect_refused(run_lagoon({"kv", "nano", "--contexts", "4k,,8k"}), "--contexts");
  expect_refused(run_lagoon({"kv", "nano", "--contexts", "4096000000000"}), "--contexts");
  expect_refused(run_lagoon({"kv", "nano", "--format", "csv"}), "--format");
}

}  // namespace
}  // namespace lagoon
