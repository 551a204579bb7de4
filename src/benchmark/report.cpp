#include "benchmark/report.h"

#include "base/byte_size.h"
#include "base/error.h"

#include <nlohmann/json.hpp>

#include <array>

namespace lagoon {
namespace {

constexpr std::array<const char*, step_parts> part_names = {"attention", "router", "experts", "dense", "head", "other"};

std::string number(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

std::string gib(uint64_t bytes) { return number(static_cast<double>(bytes) / (1 << 30), 2); }

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100.0 * fraction); }

/// "25.3 (24.9 to 25.6)"; the median alone where there was one repeat.
std::string spread_text(const Spread& spread, int digits, int repeats) {
  if (repeats == 1) return number(spread.median, digits);
  return fmt::format("{:.{}f} ({:.{}f} to {:.{}f})", spread.median, digits, spread.least, digits, spread.most, digits);
}

Table depth_table(const SpeedReport& report) {
  Table table{{"prompt", "generated", "generation tok/s", "of bound", "prefill tok/s", "of bound", "TTFT ms", "ledger GiB", "resident GiB"}, {}};
  for (const SpeedResult& result : report.results) {
    if (result.asked.sequences != 1) continue;
    table.rows.push_back({fmt::format("{}", result.asked.prompt_tokens), fmt::format("{}", result.asked.generated_tokens),
                          spread_text(result.generation_tokens_per_second, 2, result.asked.repeats), percent(result.decode_bound_fraction.median),
                          spread_text(result.prefill_tokens_per_second, 1, result.asked.prefills), percent(result.prefill_bound_fraction.median),
                          number(result.ttft_ms.median, 0), gib(result.peaks.ledger), gib(result.peaks.resident)});
  }
  return table;
}

/// One sequence with this prompt; null if none was measured.
const SpeedResult* single_with(const SpeedReport& report, int64_t prompt_tokens) {
  for (const SpeedResult& result : report.results) {
    if (result.asked.sequences == 1 && result.asked.prompt_tokens == prompt_tokens) return &result;
  }
  return nullptr;
}

/// Several sequences, each below the single sequence with the same prompt; no rows if nothing but single sequences was measured.
Table batch_table(const SpeedReport& report) {
  Table table{{"sequences", "prompt", "generation tok/s", "of bound", "speed-up", "prefill tok/s", "TTFT ms", "end to end s"}, {}};
  const auto add = [&table](const SpeedResult& result, const SpeedResult* single) {
    const std::string speed_up = single ? number(result.generation_tokens_per_second.median / single->generation_tokens_per_second.median, 2) : "-";
    table.rows.push_back({fmt::format("{}", result.asked.sequences), fmt::format("{}", result.asked.prompt_tokens),
                          spread_text(result.generation_tokens_per_second, 2, result.asked.repeats), percent(result.decode_bound_fraction.median),
                          speed_up, number(result.prefill_tokens_per_second.median, 1), number(result.ttft_ms.median, 0),
                          number(result.end_to_end_seconds.median, 2)});
  };
  const SpeedResult* shown = nullptr;
  for (const SpeedResult& result : report.results) {
    if (result.asked.sequences == 1) continue;
    const SpeedResult* single = single_with(report, result.asked.prompt_tokens);
    if (single && single != shown) add(*single, single);
    shown = single;
    add(result, single);
  }
  return table;
}

std::vector<std::string> profile_row(const SpeedResult& result, const char* phase, const PhaseTimes& times) {
  std::vector<std::string> row = {fmt::format("{}", result.asked.prompt_tokens), fmt::format("{}", result.asked.sequences), phase,
                                  number(times.seconds, 3)};
  double named = 0.0;
  for (const StepPart part : {StepPart::attention, StepPart::router, StepPart::experts, StepPart::dense, StepPart::head}) {
    const double seconds = times.parts.seconds[static_cast<size_t>(part)];
    named += seconds;
    row.push_back(percent(seconds / times.seconds));
  }
  const double sampling = std::string_view(phase) == "decode" ? result.sampling_seconds : 0.0;
  row.push_back(percent(sampling / times.seconds));
  row.push_back(percent((times.seconds - named - sampling) / times.seconds));
  row.push_back(percent(times.waiting_seconds / times.seconds));
  return row;
}

Table profile_table(const SpeedReport& report) {
  Table table{{"prompt", "sequences", "phase", "seconds", "attention", "router", "experts", "dense", "head", "sampling", "other", "waiting"}, {}};
  for (const SpeedResult& result : report.results) {
    table.rows.push_back(profile_row(result, "prefill", result.prefill));
    table.rows.push_back(profile_row(result, "decode", result.decode));
  }
  return table;
}

Table csv_table(const SpeedReport& report) {
  Table table{{"prompt_tokens", "generated_tokens", "sequences", "generation_tokens_per_second", "prefill_tokens_per_second", "ttft_ms", "peak_bytes",
               "decode_bytes_per_step", "decode_bound_fraction", "prefill_bound_fraction"},
              {}};
  for (const SpeedResult& r : report.results) {
    table.rows.push_back({fmt::format("{}", r.asked.prompt_tokens), fmt::format("{}", r.asked.generated_tokens), fmt::format("{}", r.asked.sequences),
                          number(r.generation_tokens_per_second.median, 4), number(r.prefill_tokens_per_second.median, 4),
                          number(r.ttft_ms.median, 3), fmt::format("{}", r.peaks.resident), number(r.decode_bytes_per_step, 0),
                          number(r.decode_bound_fraction.median, 4), number(r.prefill_bound_fraction.median, 4)});
  }
  return table;
}

/// Median, least or most of every figure of a result.
Json figures(const SpeedResult& r, double Spread::*which) {
  return {{"generation_tokens_per_second", r.generation_tokens_per_second.*which},
          {"prefill_tokens_per_second", r.prefill_tokens_per_second.*which},
          {"ttft_ms", r.ttft_ms.*which},
          {"end_to_end_seconds", r.end_to_end_seconds.*which},
          {"read_bandwidth", r.read_bandwidth.*which},
          {"decode_bound_fraction", r.decode_bound_fraction.*which},
          {"prefill_bound_fraction", r.prefill_bound_fraction.*which}};
}

Json phase_to_json(const PhaseTimes& times) {
  Json phase = {{"seconds", times.seconds}, {"waiting", times.waiting_seconds}};
  for (size_t part = 0; part < part_names.size(); ++part) phase[part_names[part]] = times.parts.seconds[part];
  return phase;
}

Json result_to_json(const SpeedResult& r, bool profile) {
  Json result = {{"prompt_tokens", r.asked.prompt_tokens},
                 {"generated_tokens", r.asked.generated_tokens},
                 {"sequences", r.asked.sequences},
                 {"repeats", r.asked.repeats},
                 {"prefill_repeats", r.asked.prefills},
                 {"peak_bytes", r.peaks.resident},
                 {"ledger_peak_bytes", r.peaks.ledger},
                 {"decode_bytes_per_step", r.decode_bytes_per_step},
                 {"prefill_multiply_adds", r.prefill_multiply_adds}};
  result.update(figures(r, &Spread::median));
  result["least"] = figures(r, &Spread::least);
  result["most"] = figures(r, &Spread::most);
  if (profile) result["profile"] = {{"prefill", phase_to_json(r.prefill)}, {"decode", phase_to_json(r.decode)}, {"sampling", r.sampling_seconds}};
  return result;
}

std::string heading(const SpeedReport& report) {
  return fmt::format("{}, {} kernels, {} thread{} on {}\nthis machine reads {} GB/s and multiplies {} GFLOP/s with codes, {} GFLOP/s with floats\n",
                     report.model, report.kernel_set, report.threads, report.threads == 1 ? "" : "s", report.machine,
                     number(report.limits.read_bandwidth / 1e9, 1), number(2 * report.limits.fixed_multiply_adds / 1e9, 0),
                     number(2 * report.limits.float_multiply_adds / 1e9, 0));
}

}  // namespace

std::string format_report(const SpeedReport& report, TableForm form, bool profile) {
  if (form == TableForm::csv) return csv_table(report).format(form);
  std::string text = heading(report);
  for (const Table& table : {depth_table(report), batch_table(report)}) {
    if (!table.rows.empty()) text += "\n" + table.format(form);
  }
  if (profile && !report.results.empty()) {
    text += "\nWhere the time went (waiting for threads is part of the others)\n" + std::string(form == TableForm::markdown ? "\n" : "") +
            profile_table(report).format(form);
  }
  return text;
}

Json report_to_json(const SpeedReport& report, bool profile) {
  Json results = Json::array();
  for (const SpeedResult& result : report.results) results.push_back(result_to_json(result, profile));
  return {{"lagoon", report.version},
          {"commit", report.commit},
          {"command", report.command},
          {"machine", {{"processor", report.machine}, {"features", report.features}}},
          {"model", report.model},
          {"kernel_set", report.kernel_set},
          {"threads", report.threads},
          {"read_bandwidth", report.limits.read_bandwidth},
          {"peak_flops", 2 * report.limits.fixed_multiply_adds},
          {"peak_float_flops", 2 * report.limits.float_multiply_adds},
          {"results", results}};
}

}  // namespace lagoon
