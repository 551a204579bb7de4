// Tables in their three forms, and what a report says as text, CSV and JSON.
#include "benchmark/report.h"
#include "support/hand_made_report.h"

#include "base/json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::hand_made_report;

int lines_of(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

const Table table = {{"name", "n"}, {{"a", "12345"}, {"longer", "7"}}};

TEST(Table, TextStandsToTheLeftAndNumbersToTheRight) {
  EXPECT_EQ(table.format(TableForm::aligned), "name        n\na       12345\nlonger      7\n");
  const Table turned{{"n", "name"}, {{"-", "a"}, {"10 GiB", "longer"}}};
  EXPECT_EQ(turned.format(TableForm::aligned), "     n  name\n     -  a\n10 GiB  longer\n");
}

TEST(Table, IsMarkdown) {
  EXPECT_EQ(table.format(TableForm::markdown), "| name   |     n |\n|--------|------:|\n| a      | 12345 |\n| longer |     7 |\n");
}

TEST(Table, QuotesInCsvWhatMustBeQuoted) {
  EXPECT_EQ(table.format(TableForm::csv), "name,n\na,12345\nlonger,7\n");
  const Table odd = {{"a,b", "say \"x\""}, {{"two\nlines", "plain; text"}}};
  EXPECT_EQ(odd.format(TableForm::csv), "\"a,b\",\"say \"\"x\"\"\"\n\"two\nlines\",plain; text\n");
}

TEST(Report, TextHasATableOfDepthsAndATableOfBatches) {
  const std::string text = format_report(hand_made_report(), TableForm::aligned, false);
  EXPECT_THAT(text, HasSubstr("somewhere, scalar kernels, 2 threads on Some Processor\n"));
  EXPECT_THAT(text, HasSubstr("reads 20.0 GB/s and multiplies 120 GFLOP/s with codes, 60 GFLOP/s with floats\n"));
  EXPECT_THAT(text,
              HasSubstr("  1024         16  20.00 (18.00 to 22.00)    50.0 %  100.0 (90.0 to 110.0)    25.0 %      250        1.50          1.00\n"));
  EXPECT_THAT(text, HasSubstr("        1    1024  20.00 (18.00 to 22.00)    50.0 %      1.00"));
  EXPECT_THAT(text, HasSubstr("        2    1024  35.00 (31.50 to 38.50)    50.0 %      1.75          100.0      250          4.00\n"));
  EXPECT_THAT(text, Not(HasSubstr("Where the time went")));
}

TEST(Report, WithoutBatchesThereIsOneTable) {
  SpeedReport report = hand_made_report();
  report.results.pop_back();
  EXPECT_THAT(format_report(report, TableForm::aligned, false), Not(HasSubstr("speed-up")));
  report.results.clear();
  EXPECT_EQ(lines_of(format_report(report, TableForm::aligned, true)), 2);
}

TEST(Report, OneRepeatHasNoExtremes) {
  SpeedReport report = hand_made_report();
  for (SpeedResult& result : report.results) result.asked.repeats = result.asked.prefills = 1;
  EXPECT_THAT(format_report(report, TableForm::aligned, false), Not(HasSubstr("(")));
}

TEST(Report, ABatchWithoutItsSingleSequenceHasNoSpeedUp) {
  SpeedReport report = hand_made_report();
  report.results.erase(report.results.begin(), report.results.end() - 1);
  EXPECT_THAT(format_report(report, TableForm::aligned, false), HasSubstr("         -  "));
}

TEST(Report, TheProfileIsSharesOfThePhase) {
  const std::string text = format_report(hand_made_report(), TableForm::aligned, true);
  EXPECT_THAT(text, HasSubstr("  1024          1  decode     2.000     25.0 %  12.5 %   37.5 %   0.0 %  12.5 %     2.5 %  10.0 %    5.0 %\n"));
  EXPECT_THAT(text, HasSubstr("  1024          1  prefill    4.000     25.0 %  25.0 %   25.0 %  12.5 %   6.2 %     0.0 %   6.2 %    0.0 %\n"));
}

TEST(Report, CsvIsTheResultsAlone) {
  const std::string text = format_report(hand_made_report(), TableForm::csv, true);
  EXPECT_EQ(lines_of(text), 4);
  EXPECT_THAT(text, HasSubstr("\n3000,16,1,10.0000,100.0000,250.000,1073741824,100000000,0.5000,0.2500\n"));
}

TEST(Report, MarkdownTablesAreWhole) {
  const std::string text = format_report(hand_made_report(), TableForm::markdown, true);
  EXPECT_THAT(text, HasSubstr("\n\n| prompt | generated |"));
  EXPECT_THAT(text, HasSubstr("\n\n| sequences | prompt |"));
  EXPECT_THAT(text, HasSubstr("\n\n| prompt | sequences | phase   |"));
}

TEST(Report, JsonHasEveryDocumentedKey) {
  const Json json = report_to_json(hand_made_report(), false);
  EXPECT_EQ(json.at("lagoon"), "1.2.3");
  EXPECT_EQ(json.at("commit"), "abcdef");
  EXPECT_EQ(json.at("command"), "lagoon bench somewhere");
  EXPECT_EQ(json.at("machine"), (Json{{"processor", "Some Processor"}, {"features", "these those"}}));
  EXPECT_EQ(json.at("model"), "somewhere");
  EXPECT_EQ(json.at("kernel_set"), "scalar");
  EXPECT_EQ(json.at("threads"), 2);
  EXPECT_EQ(json.at("read_bandwidth"), 2e10);
  EXPECT_EQ(json.at("peak_flops"), 1.2e11);
  EXPECT_EQ(json.at("peak_float_flops"), 6e10);
  ASSERT_EQ(json.at("results").size(), 3u);
  const Json& result = json.at("results").at(2);
  const Json counts = {{"prompt_tokens", 1024}, {"generated_tokens", 16}, {"sequences", 2}, {"repeats", 3}, {"prefill_repeats", 2}};
  for (const auto& [key, value] : counts.items()) EXPECT_EQ(result.at(key), value) << key;
  EXPECT_EQ(result.at("peak_bytes"), 1u << 30);
  EXPECT_EQ(result.at("ledger_peak_bytes"), 3u << 29);
  EXPECT_EQ(result.at("decode_bytes_per_step"), 1e8);
  EXPECT_EQ(result.at("prefill_multiply_adds"), 2e9);
  EXPECT_EQ(result.at("generation_tokens_per_second"), 35.0);
  EXPECT_EQ(result.at("prefill_tokens_per_second"), 100.0);
  EXPECT_EQ(result.at("ttft_ms"), 250.0);
  EXPECT_EQ(result.at("end_to_end_seconds"), 4.0);
  EXPECT_EQ(result.at("read_bandwidth"), 2e10);
  EXPECT_EQ(result.at("decode_bound_fraction"), 0.5);
  EXPECT_EQ(result.at("prefill_bound_fraction"), 0.25);
  EXPECT_EQ(result.at("least").at("generation_tokens_per_second"), 0.9 * 35.0);
  EXPECT_EQ(result.at("most").at("ttft_ms"), 1.1 * 250.0);
  EXPECT_FALSE(result.contains("profile"));
}

TEST(Report, JsonOfAProfileHasSeconds) {
  const Json json = report_to_json(hand_made_report(), true);
  const Json& profile = json.at("results").at(0).at("profile");
  EXPECT_EQ(profile.at("decode"), (Json{{"seconds", 2.0},
                                        {"waiting", 0.1},
                                        {"attention", 0.5},
                                        {"router", 0.25},
                                        {"experts", 0.75},
                                        {"dense", 0.0},
                                        {"head", 0.25},
                                        {"other", 0.0}}));
  EXPECT_EQ(profile.at("sampling"), 0.05);
  EXPECT_EQ(profile.at("prefill").at("dense"), 0.5);
}

}  // namespace
}  // namespace lagoon
