// plan_output.h: a plan and the known artifacts, for people and for programs.
#pragma once

#include "base/json.h"
#include "commands/model_choice.h"
#include "planning/plan_answer.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lagoon {

/// @param explain  the formula behind each line
std::string plan_text(const ChosenModel& chosen, const PlanAnswer& answer, bool explain);

/// {"model", "kind", "context", "sequences", ..., "lines": [{"name", "bytes"}], "total_bytes", "reserve_bytes", "available_bytes", "limit",
/// "fits", "largest_context", "largest_sequences", ...}; what is not known is null
Json plan_json(const ChosenModel& chosen, const PlanAnswer& answer, bool explain);

std::string artifacts_text(const std::vector<Artifact>& artifacts, const std::filesystem::path& own);
Json artifacts_json(const std::vector<Artifact>& artifacts);

}  // namespace lagoon
