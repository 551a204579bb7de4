#include "base/byte_size.h"
#include "base/json.h"
#include "commands/model_runner.h"
#include "machine/available_memory.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lagoon {
namespace {

struct ReportLine {
  std::string name;
  uint64_t planned = 0;
  uint64_t held = 0;  // at most, at one time
};

/// The plan's lines, then what the ledger has beside them.
std::vector<ReportLine> report_lines(const LoadedModel& loaded) {
  std::vector<ReportLine> lines;
  for (const PlanLine& line : loaded.plan.lines) lines.push_back({line.name, line.bytes, 0});
  for (const MemoryBudget::Line& line : loaded.budget->lines()) {
    auto place = std::find_if(lines.begin(), lines.end(), [&](const ReportLine& one) { return one.name == line.name; });
    if (place == lines.end()) place = lines.insert(lines.end(), {line.name});
    place->held = line.peak;
  }
  return lines;
}

}  // namespace

std::string memory_report(const LoadedModel& loaded) {
  std::string text = fmt::format("{:<24}{:>20}{:>20}\n", "memory, bytes", "planned", "held at most");
  for (const ReportLine& line : report_lines(loaded))
    text += fmt::format("{:<24}{:>20}{:>20}\n", line.name, format_count(line.planned), format_count(line.held));
  const uint64_t peak = peak_resident_bytes();
  text += fmt::format("{:<24}{:>20}{:>20}\n", "total", format_count(loaded.plan.total_bytes()), format_count(loaded.budget->peak()));
  return text + fmt::format("{:<24}{:>20}{:>20}\n", "resident at most", "", format_count(peak));
}

Json memory_report_json(const LoadedModel& loaded) {
  Json lines = Json::array();
  for (const ReportLine& line : report_lines(loaded))
    lines.push_back({{"name", line.name}, {"planned_bytes", line.planned}, {"held_bytes", line.held}});
  return {{"lines", std::move(lines)},
          {"planned_bytes", loaded.plan.total_bytes()},
          {"held_bytes", loaded.budget->peak()},
          {"peak_resident_bytes", peak_resident_bytes()}};
}

}  // namespace lagoon
