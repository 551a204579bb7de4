#include "base/error.h"
#include "benchmark/report.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace lagoon {
namespace {

/// Far above any speed, count or time; a ratio of two figures stays short in print.
constexpr double most_figure = 1e12;

/// Far above what one run writes.
constexpr size_t most_results = 1000;

[[noreturn]] void refuse(std::string_view what, const std::string& found) {
  fail(ErrorKind::corrupt, "{}: {}; give a file that `lagoon bench --format json` wrote", what, found);
}

double rate_at(const Json& result, const char* key, std::string_view what) {
  const auto found = result.find(key);
  if (found == result.end() || !found->is_number()) refuse(what, fmt::format("a result has no number `{}`", key));
  const double value = found->get<double>();
  if (!(value > 0.0 && value <= most_figure)) refuse(what, fmt::format("`{}` is {}, not above 0 and up to {}", key, value, most_figure));
  return value;
}

int64_t count_at(const Json& result, const char* key, std::string_view what) {
  const double value = rate_at(result, key, what);
  if (value != std::floor(value)) refuse(what, fmt::format("`{}` is no count", key));
  return static_cast<int64_t>(value);
}

std::string text_at(const Json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_string() ? printable(found->get<std::string>(), 100) : "?";
}

std::string change(double first, double second) { return fmt::format("{:.2f}", second / first); }

}  // namespace

ComparedReport read_report(std::string_view text, std::string_view what) {
  const Json document = parse_json(text, what);
  if (!document.is_object()) refuse(what, "an object was expected");
  const auto results = document.find("results");
  if (results == document.end() || !results->is_array()) refuse(what, "there is no list `results`");
  ComparedReport report;
  if (results->size() > most_results) refuse(what, fmt::format("{} results, more than {}", results->size(), most_results));
  report.label = text_at(document, "model") + ", " + text_at(document, "kernel_set") + " kernels";
  const auto threads = document.find("threads");
  if (threads != document.end() && threads->is_number_unsigned()) {
    const auto count = threads->get<uint64_t>();
    report.label += fmt::format(", {} thread{}", count, count == 1 ? "" : "s");
  }
  if (const std::string commit = text_at(document, "commit"); commit != "?" && !commit.empty()) report.label += ", commit " + commit;
  for (const Json& result : *results) {
    if (!result.is_object()) refuse(what, "a result is no object");
    report.rows.push_back({.prompt_tokens = count_at(result, "prompt_tokens", what),
                           .sequences = count_at(result, "sequences", what),
                           .generation = rate_at(result, "generation_tokens_per_second", what),
                           .prefill = rate_at(result, "prefill_tokens_per_second", what),
                           .ttft_ms = rate_at(result, "ttft_ms", what)});
  }
  return report;
}

Table compare_reports(const ComparedReport& first, const ComparedReport& second) {
  Table table{{"prompt", "sequences", "generation tok/s", "then", "ratio", "prefill tok/s", "then", "ratio", "TTFT ms", "then", "ratio"}, {}};
  for (const ComparedReport::Row& a : first.rows) {
    for (const ComparedReport::Row& b : second.rows) {
      if (a.prompt_tokens != b.prompt_tokens || a.sequences != b.sequences) continue;
      table.rows.push_back({fmt::format("{}", a.prompt_tokens), fmt::format("{}", a.sequences), fmt::format("{:.2f}", a.generation),
                            fmt::format("{:.2f}", b.generation), change(a.generation, b.generation), fmt::format("{:.1f}", a.prefill),
                            fmt::format("{:.1f}", b.prefill), change(a.prefill, b.prefill), fmt::format("{:.0f}", a.ttft_ms),
                            fmt::format("{:.0f}", b.ttft_ms), change(a.ttft_ms, b.ttft_ms)});
      break;
    }
  }
  if (table.rows.empty())
    fail(ErrorKind::invalid, "the two files have no prompt length and number of sequences in common; compare runs with the same --prompts");
  return table;
}

}  // namespace lagoon
