#include "commands/plan_output.h"

#include "base/byte_size.h"
#include "base/checked.h"
#include "benchmark/table.h"
#include "machine/file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lagoon {
namespace {

std::string count(int64_t number) { return format_count(static_cast<uint64_t>(number)); }

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

std::string kv_name(const PlanRequest& request) { return request.model.kv_element() == ElementType::f32 ? "f32" : "bf16"; }

std::string row(const std::string& name, uint64_t bytes) {
  return fmt::format("  {:<28}{:>22}{:>16}\n", name, format_count(bytes), format_gib(bytes));
}

std::string ledger(const PlanAnswer& answer, bool explain) {
  std::string text = fmt::format("  {:<24}{:>20}\n", "", "bytes");
  for (const PlanLine& line : answer.plan.lines) {
    text += row(line.name, line.bytes);
    if (explain) text += fmt::format("      = {}\n", line.formula);
  }
  const uint64_t total = answer.plan.total_bytes();
  text += row("total", total);
  const MemoryBound* bound = answer.binding();
  if (bound == nullptr || bound->reserve == 0) return text;
  return text + row("reserve", bound->reserve) + row("total with reserve", saturating_add(total, bound->reserve));
}

std::string machine_text(const PlanAnswer& answer) {
  const auto size = [](std::optional<uint64_t> bytes) { return bytes ? format_gib(*bytes) : std::string("unknown"); };
  std::string text = fmt::format("This machine: MemTotal {}, MemAvailable {}, {}\n", size(answer.machine.total), size(answer.machine.available),
                                 answer.machine.container.empty() ? "no container" : "in a container (" + answer.machine.container + ")");
  for (const MemoryLimit& limit : answer.machine.limits)
    text += fmt::format("  {}: {}, {} left\n", limit.name, format_gib(limit.limit), format_gib(limit.left));
  return text;
}

/// In a sentence: GiB, or less than a tenth of one so that two sizes can be told apart.
std::string size_text(uint64_t bytes) { return bytes < (uint64_t{1} << 30) / 10 ? format_binary(bytes) : format_gib(bytes); }

/// Which bound binds and why, and the verdict.
std::string verdict(const PlanAnswer& answer) {
  const MemoryBound* bound = answer.binding();
  const uint64_t need = answer.plan.total_bytes();
  if (bound == nullptr) return fmt::format("Unknown: nothing says how much memory is free; {} are needed.\n", size_text(need));
  std::string text = fmt::format("What binds: {}, {}", bound->name, size_text(bound->bytes));
  if (bound->reserve > 0) text += fmt::format(" less {} of reserve", size_text(bound->reserve));
  if (answer.bounds.size() > 1) text += fmt::format("; the next bound is {} with {}", answer.bounds[1].name, size_text(answer.bounds[1].room()));
  text += ".\n";
  if (*answer.fits) return text + fmt::format("It fits: {} are needed, {} remain.\n", size_text(need), size_text(bound->room() - need));
  return text + fmt::format("It does not fit: {} are needed, {} may be taken, {} are missing.\n", size_text(need), size_text(bound->room()),
                            size_text(need - bound->room()));
}

std::string next_questions(const PlanAnswer& answer) {
  if (!answer.largest_context) return "";
  const auto number = [](int64_t value) { return value > 0 ? count(value) : std::string("none"); };
  return fmt::format("Largest context that fits with {} {}: {}\nMost sequences of {} tokens that fit: {}\n", count(answer.request.sequences),
                     answer.request.sequences == 1 ? "sequence" : "sequences", number(*answer.largest_context), count(answer.request.model.context),
                     number(*answer.largest_sequences));
}

std::string alternatives_text(const PlanAnswer& answer) {
  if (answer.alternatives.empty()) return "";
  Table table = {{"published quantization", "format", "needs", "fits", "largest context"}, {}};
  for (const PlannedAlternative& one : answer.alternatives) {
    table.rows.push_back({one.repository, one.format, format_gib(one.total_bytes),
                          !one.fits   ? "unknown"
                          : *one.fits ? "yes"
                                      : "no",
                          one.largest_context ? count(*one.largest_context) : "unknown"});
  }
  return "\nOther quantizations of this model, same context:\n" + table.format(TableForm::aligned);
}

std::string subject(const ChosenModel& chosen, const PlanAnswer& answer) {
  std::string text = fmt::format("{} ({}): {}, chunk {}, keys and values {}\n", chosen.name, chosen.kind, describe_sequences(answer.request),
                                 options_of(answer.request).step_rows, kv_name(answer.request));
  if (!chosen.checkpoint.overridden().empty()) text += fmt::format("config.json itself says {}\n", chosen.checkpoint.overridden());
  if (!chosen.artifact) return text;
  const Artifact& artifact = *chosen.artifact;
  text += fmt::format("{}, not on this machine; source: {}\n", artifact.format, artifact.source);
  if (artifact.weight_bytes)
    text += fmt::format("to download: {} of weights = {}\n", format_bytes(*artifact.weight_bytes), format_gib(*artifact.weight_bytes));
  if (!artifact.note.empty()) text += artifact.note + "\n";
  return text;
}

Json machine_json(const PlanAnswer& answer) {
  Json limits = Json::array();
  for (const MemoryLimit& limit : answer.machine.limits) limits.push_back({{"name", limit.name}, {"bytes", limit.limit}, {"left_bytes", limit.left}});
  return {{"total_bytes", or_null(answer.machine.total)},
          {"available_bytes", or_null(answer.machine.available)},
          {"container", answer.machine.container.empty() ? Json() : Json(answer.machine.container)},
          {"limits", std::move(limits)}};
}

Json alternatives_json(const PlanAnswer& answer) {
  Json alternatives = Json::array();
  for (const PlannedAlternative& one : answer.alternatives) {
    alternatives.push_back({{"name", one.name},
                            {"repository", one.repository},
                            {"format", one.format},
                            {"weight_bytes", or_null(one.weight_bytes)},
                            {"total_bytes", one.total_bytes},
                            {"fits", or_null(one.fits)},
                            {"largest_context", or_null(one.largest_context)}});
  }
  return alternatives;
}

}  // namespace

std::string plan_text(const ChosenModel& chosen, const PlanAnswer& answer, bool explain) {
  std::string text =
      subject(chosen, answer) + "\n" + ledger(answer, explain) + "\n" + machine_text(answer) + verdict(answer) + next_questions(answer);
  if (!answer.advice.empty()) text += "\nWhat would make it fit:\n";
  for (const std::string& sentence : answer.advice) text += "  - " + sentence + "\n";
  return text + alternatives_text(answer);
}

Json plan_json(const ChosenModel& chosen, const PlanAnswer& answer, bool explain) {
  Json lines = Json::array();
  for (const PlanLine& line : answer.plan.lines) {
    Json item = {{"name", line.name}, {"bytes", line.bytes}};
    if (explain) item["formula"] = line.formula;
    lines.push_back(std::move(item));
  }
  const MemoryBound* bound = answer.binding();
  Json bounds = Json::array();
  for (const MemoryBound& one : answer.bounds) bounds.push_back({{"name", one.name}, {"bytes", one.bytes}, {"reserve_bytes", one.reserve}});
  Json object = {{"model", chosen.name},
                 {"kind", chosen.kind},
                 {"location", location_json(chosen.checkpoint)},
                 {"context", answer.request.model.context},
                 {"sequences", answer.request.sequences},
                 {"prefill_chunk", options_of(answer.request).step_rows},
                 {"kv", kv_name(answer.request)},
                 {"lines", std::move(lines)},
                 {"total_bytes", answer.plan.total_bytes()},
                 {"reserve_bytes", bound != nullptr ? Json(bound->reserve) : Json()},
                 {"available_bytes", bound != nullptr ? Json(bound->bytes) : Json()},
                 {"limit", bound != nullptr ? Json(bound->name) : Json()},
                 {"fits", or_null(answer.fits)},
                 {"largest_context", or_null(answer.largest_context)},
                 {"largest_sequences", or_null(answer.largest_sequences)},
                 {"bounds", std::move(bounds)},
                 {"machine", machine_json(answer)},
                 {"advice", answer.advice},
                 {"alternatives", alternatives_json(answer)}};
  if (chosen.artifact) object["artifact"] = artifacts_json({*chosen.artifact})["artifacts"][0];
  return object;
}

std::string artifacts_text(const std::vector<Artifact>& artifacts, const std::filesystem::path& own) {
  Table table = {{"name", "repository", "format", "weights, bytes", "Lagoon runs it"}, {}};
  for (const Artifact& artifact : artifacts) {
    table.rows.push_back({artifact.name, artifact.repository, artifact.format,
                          artifact.weight_bytes ? format_count(*artifact.weight_bytes) : "not published",
                          artifact.formats ? (artifact.exact ? "yes" : "yes; formats partly inferred") : "no"});
  }
  return table.format(TableForm::aligned) +
         fmt::format("\nYour own: one JSON file each in {}, as those of data/artifacts; --json shows every field.\n", printable_path(own));
}

Json artifacts_json(const std::vector<Artifact>& artifacts) {
  Json list = Json::array();
  for (const Artifact& artifact : artifacts) {
    list.push_back({{"name", artifact.name},
                    {"repository", artifact.repository},
                    {"revision", artifact.revision.empty() ? Json() : Json(artifact.revision)},
                    {"model", artifact.model},
                    {"format", artifact.format},
                    {"runs", artifact.formats.has_value()},
                    {"reason", artifact.reason.empty() ? Json() : Json(artifact.reason)},
                    {"exact", artifact.exact},
                    {"weight_bytes", or_null(artifact.weight_bytes)},
                    {"repository_bytes", or_null(artifact.repository_bytes)},
                    {"shards", or_null(artifact.shards)},
                    {"note", artifact.note},
                    {"source", artifact.source}});
  }
  return {{"artifacts", std::move(list)}};
}

}  // namespace lagoon
