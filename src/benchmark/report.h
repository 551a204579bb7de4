// report.h: what a benchmark says: as tables, and as JSON that can be read again and compared.
#pragma once

#include "base/json.h"
#include "benchmark/speed_run.h"
#include "benchmark/table.h"

#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

struct SpeedReport {
  std::string version;   // of Lagoon
  std::string commit;    // empty: not known
  std::string command;   // as it was typed
  std::string machine;   // the processor's name
  std::string features;  // those of its instructions that matter
  std::string model;
  std::string kernel_set;
  int threads = 1;
  SpeedLimits limits;  // read_bandwidth: the median of all measurements of the run
  std::vector<SpeedResult> results;
};

/// The tables of a report: one sequence at several depths, then several sequences at once below the one that they are compared with, then, if asked
/// for, where the time went. Markdown and aligned forms begin with lines on model and machine; CSV is one table of the results alone.
std::string format_report(const SpeedReport& report, TableForm form, bool profile);

/// Keys as documented in docs/benchmarks.md. Figures are medians; "least" and "most" hold the extremes.
Json report_to_json(const SpeedReport& report, bool profile);

/// What another run wrote. @param what  begins the sentence of an error. @throws Error(corrupt)
struct ComparedReport {
  std::string label;  // model, kernel set, threads, commit; "?" for what the file does not say
  struct Row {
    int64_t prompt_tokens = 0;
    int64_t sequences = 1;
    double generation = 0.0;  // tokens per second
    double prefill = 0.0;     // tokens per second
    double ttft_ms = 0.0;
  };
  std::vector<Row> rows;
};
ComparedReport read_report(std::string_view text, std::string_view what);

/// The rows that both have, with ratios second / first. @throws Error(invalid) if they have none in common
Table compare_reports(const ComparedReport& first, const ComparedReport& second);

}  // namespace lagoon
