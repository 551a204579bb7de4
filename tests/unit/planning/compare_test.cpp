// Models side by side: what is marked, and what cannot break out of the form that it is printed in.
#include "planning/compare.h"

#include "facts_cases.h"
#include "planning/compare_page.h"
#include "planning/facts_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing::Not;

const char* const hostile = "a|b \"c\"\n</script><script>alert(1)</script> {{style}} \\ `x` *y*, z";

ComparedModel model(std::string_view spec, std::string name, const char* kind = "synthetic") {
  const Checkpoint checkpoint = open_synthetic(parse_synthetic_spec(spec));
  const std::vector<PublishedModel> known = published_models();
  return compared_model(std::move(name), kind, checkpoint, find_published_model(known, checkpoint.config()), {},
                        stored_weights(checkpoint, "tensor headers"), "tensor headers");
}

std::vector<ComparedModel> two() { return {model("s-2.1:4/64", "one"), model("xs-2.1:4/64", "two")}; }

const ComparedRow& row(const std::vector<ComparedRow>& rows, std::string_view key) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const ComparedRow& one) { return one.key == key; });
  if (found == rows.end()) throw std::runtime_error("no row " + std::string(key));
  return *found;
}

std::string line_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) return line;
  }
  return "no such line";
}

size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

TEST(Compare, RowsThatDifferAreMarked) {
  const std::vector<ComparedRow> rows = compared_rows(two());
  for (const char* key : {"params.total", "shape.d_model", "attn.local_heads", "release.date", "kv.bytes_at_context", "checkpoint.weight_bytes"}) {
    EXPECT_TRUE(row(rows, key).differs) << key;
  }
  for (const char* key : {"release.license", "attn.heads", "attn.layout", "train.tokens", "shape.vocab", "norm.epsilon"})
    EXPECT_FALSE(row(rows, key).differs) << key;
  EXPECT_EQ(rows.back().key, "checkpoint.formats");
}

TEST(Compare, AModelDoesNotDifferFromItself) {
  const ComparedModel one = model("xs-2.1:4/64", "one");
  for (const ComparedRow& each : compared_rows({one, one, one})) EXPECT_FALSE(each.differs) << each.key;
  const ComparedModel other = model("xs-2.1:bf16", "other");
  EXPECT_TRUE(row(compared_rows({one, one, other}), "checkpoint.weight_bytes").differs);
  EXPECT_FALSE(row(compared_rows({one, one, other}), "params.counted_total").differs);
}

TEST(Compare, TheTableFitsItsTerminalAndHasAStar) {
  const std::string table = comparison_table(two());
  EXPECT_EQ(line_with(table, "d_model").substr(0, 9), "* d_model");
  EXPECT_EQ(line_with(table, "vocabulary").substr(0, 12), "  vocabulary");
  EXPECT_THAT(line_with(table, "counted total"), HasSubstr("117,561,977,600 (117.6B)"));
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(Compare, JsonHasModelsAndRows) {
  const Json json = comparison_json(two(), "lagoon 1.2.3");
  EXPECT_EQ(json["generator"], "lagoon 1.2.3");
  ASSERT_EQ(json["models"].size(), 2u);
  const Json& first = json["models"][0];
  EXPECT_EQ(first["name"], "one");
  EXPECT_EQ(first["kind"], "synthetic");
  EXPECT_TRUE(first["memory"].is_null());
  EXPECT_GT(first["weight_bytes"], 117561977600u / 2);
  EXPECT_EQ(first["facts"].size(), json["rows"].size());
  EXPECT_EQ(json["rows"][0]["key"], "release.date");
  EXPECT_EQ(json["rows"][0]["differs"], true);
  for (const char* key : {"key", "group", "label", "unit", "differs"}) EXPECT_TRUE(json["rows"][5].contains(key));
}

TEST(Compare, MarkdownCellsHoldAnyName) {
  std::vector<ComparedModel> models = two();
  models[0].name = hostile;
  const std::string text = comparison_markdown(models);
  const std::string header = text.substr(0, text.find('\n'));
  EXPECT_THAT(header, HasSubstr("a\\|b"));
  EXPECT_THAT(text, Not(HasSubstr("<script>")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    size_t bars = 0;
    for (size_t at = 0; at < line.size(); ++at) {
      if (line[at] == '\\')
        ++at;
      else if (line[at] == '|')
        ++bars;
    }
    EXPECT_EQ(bars, 6u) << line;
  }
  EXPECT_THAT(line_with(text, "`shape.d_model`"), HasSubstr("| \\* |"));
  EXPECT_THAT(line_with(text, "`shape.vocab`"), HasSubstr("|  |"));
}

TEST(Compare, ValuesForSpreadsheetsAreThoseOfJson) {
  std::vector<ComparedModel> models = two();
  models[1].name = hostile;
  const auto lines = comparison_values(models);
  EXPECT_EQ(lines.front().back(), hostile);
  for (const auto& line : lines) ASSERT_EQ(line.size(), 7u);
  const auto find = [&](const std::string& key) {
    return *std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line[2] == key; });
  };
  EXPECT_EQ(find("shape.d_model"), (std::vector<std::string>{"shape", "d_model", "shape.d_model", "", "yes", "3072", "2048"}));
  EXPECT_EQ(find("train.tokens")[5], "not disclosed");
  EXPECT_EQ(find("shape.tied_embeddings")[5], "no");
  EXPECT_EQ(find("norm.epsilon")[5], "1e-06");
}

TEST(Compare, ThePageIsWholeWhateverNamesHold) {
  std::vector<ComparedModel> models = two();
  const std::string plain = compare_page(models, "lagoon 1.2.3");
  models[0].name = hostile;
  models[1].name = "</script>{{script}}{{data}}\xff";
  const std::string page = compare_page(models, "lagoon 1.2.3");
  EXPECT_EQ(count_of(page, "<script"), count_of(plain, "<script"));
  EXPECT_EQ(count_of(page, "</script"), count_of(plain, "</script"));
  EXPECT_EQ(count_of(plain, "{{"), 0u);
  EXPECT_THAT(plain, HasSubstr("<!doctype html>"));
  EXPECT_THAT(plain, HasSubstr("\"generator\":\"lagoon 1.2.3\""));

  const size_t begin = page.find("{\"generator\"");
  const std::string data = page.substr(begin, page.find("</script>", begin) - begin);
  EXPECT_EQ(parse_json(data, "data")["models"][0]["name"], hostile);
}

TEST(Compare, ScriptJsonHasNoTags) {
  const Json data = {{"name", "<!--<script>"}};
  EXPECT_EQ(script_json(data), "{\"name\":\"\\u003c!--\\u003cscript>\"}");
  EXPECT_EQ(parse_json(script_json(data), "data"), data);
}

TEST(Compare, FormatsAreNamedWithTheirShares) {
  EXPECT_EQ(weight_formats(open_synthetic(parse_synthetic_spec("mini:bf16,layers=1"))), "bf16: 100.0 %");
  EXPECT_THAT(weight_formats(open_synthetic(parse_synthetic_spec("xs-2.1:4/64"))), HasSubstr("4-bit/64: 9"));
}

}  // namespace
}  // namespace lagoon
