// Two reports beside each other, and files that are no reports.
#include "benchmark/report.h"
#include "support/error_matchers.h"
#include "support/hand_made_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace lagoon {
namespace {

using testing_support::expect_error;
using testing_support::hand_made_report;
using testing_support::hand_made_result;

ComparedReport read_back(const SpeedReport& report) { return read_report(report_to_json(report, false).dump(), "file.json"); }

/// A file with one result, in which `key` has the JSON text `value`; an empty value leaves the key out.
std::string file_with(const std::string& key, const std::string& value) {
  std::string result;
  for (const char* each : {"prompt_tokens", "sequences", "generation_tokens_per_second", "prefill_tokens_per_second", "ttft_ms"}) {
    const std::string text = each == key ? value : "1";
    if (!text.empty()) result += (result.empty() ? "" : ",") + ("\"" + std::string(each) + "\":" + text);
  }
  return "{\"results\":[{" + result + "}]}";
}

TEST(Compare, RatiosAreSecondOverFirst) {
  SpeedReport second = hand_made_report();
  second.results = {hand_made_result(1024, 1, 30.0), hand_made_result(9999, 1, 1.0), hand_made_result(1024, 2, 17.5)};
  const Table table = compare_reports(read_back(hand_made_report()), read_back(second));
  ASSERT_EQ(table.rows.size(), 2u);  // what only one has is left out
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"1024", "1", "20.00", "30.00", "1.50", "100.0", "100.0", "1.00", "250", "250", "1.00"}));
  EXPECT_EQ(table.rows[1], (std::vector<std::string>{"1024", "2", "35.00", "17.50", "0.50", "100.0", "100.0", "1.00", "250", "250", "1.00"}));
}

TEST(Compare, LabelsSayWhatWasMeasured) {
  EXPECT_EQ(read_back(hand_made_report()).label, "somewhere, scalar kernels, 2 threads, commit abcdef");
  EXPECT_EQ(read_report(R"({"results": [], "model": 5, "threads": -1, "kernel_set": "a\u001b[31m"})", "f").label, "?, a\\x1b[31m kernels");
}

TEST(Compare, ReportsWithNothingInCommonAreRefused) {
  SpeedReport second = hand_made_report();
  second.results = {hand_made_result(1024, 4, 30.0)};
  const auto compare = [&] { compare_reports(read_back(hand_made_report()), read_back(second)); };
  expect_error(compare, ErrorKind::invalid, {"in common"});
}

TEST(Compare, FilesThatAreNoReportsAreRefusedByName) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& text :
       {std::string(), std::string("nonsense"), std::string("[]"), std::string("5"), std::string("{}"), std::string("{\"results\":"),
        std::string(R"({"results": {}})"), std::string(R"({"results": [5]})"), std::string(R"({"results": [[]]})"), deep,
        "{\"results\": " + deep + "}", std::string("{\"results\":[],\"results\":[]}")}) {
    expect_error([&] { read_report(text, "file.json"); }, ErrorKind::corrupt, {"file.json"});
  }
}

TEST(Compare, FiguresThatCannotBeAreRefusedByName) {
  EXPECT_EQ(read_report(file_with("", ""), "f").rows.size(), 1u);
  for (const char* key : {"prompt_tokens", "sequences", "generation_tokens_per_second", "prefill_tokens_per_second", "ttft_ms"}) {
    for (const char* value : {"", "null", "true", "\"7\"", "[1]", "{}", "0", "-1", "-0.0", "1e300", "99999999999999999999999"}) {
      expect_error([&] { read_report(file_with(key, value), "file.json"); }, ErrorKind::corrupt, {"file.json", key});
    }
    for (const char* value : {"NaN", "Infinity", "-Infinity", "1e999"}) {
      expect_error([&] { read_report(file_with(key, value), "file.json"); }, ErrorKind::corrupt, {"file.json"});
    }
  }
  expect_error([&] { read_report(file_with("sequences", "1.5"), "file.json"); }, ErrorKind::corrupt, {"sequences"});
}

TEST(Compare, AnEndlessListIsRefused) {
  std::string results = "{}";
  for (int at = 0; at < 2000; ++at) results += ",{}";
  expect_error([&] { read_report("{\"results\":[" + results + "]}", "file.json"); }, ErrorKind::corrupt, {"2001 results"});
}

}  // namespace
}  // namespace lagoon
