// lagoon compare, as a user runs it.
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

#include "base/json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

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

TEST(CompareModels, TakesAnyMixture) {
  const ProgramRun run = run_lagoon({"compare", "nano", "laguna-m.1", "s-2.1-oq4e", "xs-2.1:4/64,layers=4", "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  const Json document = parse_json(run.output, "output");
  ASSERT_EQ(document["models"].size(), 4u);
  std::vector<std::string> kinds;
  for (const Json& model : document["models"]) kinds.push_back(model["kind"]);
  EXPECT_THAT(kinds, testing::ElementsAre("checkpoint", "published", "artifact", "synthetic"));
  EXPECT_THAT(document["generator"].get<std::string>(), StartsWith("lagoon "));
  EXPECT_TRUE(std::any_of(document["rows"].begin(), document["rows"].end(), [](const Json& row) { return row["differs"] == false; }));
}

TEST(CompareModels, MarksDifferencesInTableMarkdownAndCsv) {
  const ProgramRun table = run_lagoon({"compare", "nano", "xs-2.1:4/64"});
  ASSERT_EQ(table.exit_code, 0) << table.error;
  EXPECT_THAT(table.output, HasSubstr("\n* layers "));
  EXPECT_THAT(table.output, HasSubstr("\n  QK norm "));
  const ProgramRun csv = run_lagoon({"compare", "nano", "xs-2.1:4/64", "--format", "csv"});
  EXPECT_THAT(csv.output, StartsWith("group,fact,key,unit,differs,nano,xs-2.1:4/64\n"));
  EXPECT_THAT(csv.output, HasSubstr("\nshape,layers,shape.layers,,yes,8,40\n"));
  EXPECT_THAT(csv.output, HasSubstr("norm,placement,norm.placement,,no,pre,pre\n"));
  EXPECT_THAT(csv.output, HasSubstr("\"GQA, SWA\""));
  const ProgramRun markdown = run_lagoon({"compare", "nano", "xs-2.1:4/64", "--format", "markdown"});
  EXPECT_THAT(markdown.output, HasSubstr("| shape: layers | `shape.layers` | \\* | 8 | 40 |\n"));
}

TEST(CompareModels, NamesCannotBreakTheForm) {
  const TemporaryFolder folder;
  const std::filesystem::path model = folder.path() / "a|b, \"c\"\n<script>";
  std::filesystem::copy(LAGOON_SOURCE_DIR "/models/nano", model);
  const ProgramRun csv = run_lagoon({"compare", model, "nano", "--format", "csv"});
  ASSERT_EQ(csv.exit_code, 0) << csv.error;
  EXPECT_THAT(csv.output.substr(0, csv.output.find("\nrelease")), HasSubstr("a|b, \"\"c\"\""));
  const ProgramRun markdown = run_lagoon({"compare", model, "nano", "--format", "markdown"});
  EXPECT_THAT(markdown.output, HasSubstr("a\\|b"));
  EXPECT_THAT(markdown.output, Not(HasSubstr("<script>")));
  const ProgramRun page = run_lagoon({"compare", model, "nano", "--format", "html"});
  EXPECT_THAT(page.output, HasSubstr("\\u003cscript>"));
  EXPECT_THAT(run_lagoon({"facts", model, "--format", "markdown"}).output, Not(HasSubstr("<script>")));
}

TEST(CompareModels, ThePageGoesIntoAFile) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "page.html").string();
  const ProgramRun run = run_lagoon({"compare", "nano", "laguna-xs-2.1", "--format", "html", "--output", path});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.output, "");
  const std::string page = file_text(path);
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("\"laguna-xs-2.1\""));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(CompareModels, WrongRequestsAreRefused) {
  expect_refused(run_lagoon({"compare"}), "MODEL");
  expect_refused(run_lagoon({"compare", "nano"}), "give two or more");
  expect_refused(run_lagoon({"compare", "nano", "nano", "--format", "xml"}), "--format `xml`");
  expect_refused(run_lagoon({"compare", "nano", "/no/such/model"}), "/no/such/model");
  expect_refused(run_lagoon({"compare", "nano", "nano", "--context", "many"}), "--context `many`");
}

}  // namespace
}  // namespace lagoon
