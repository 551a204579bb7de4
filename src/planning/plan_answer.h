// plan_answer.h: what a plan comes to on a machine: whether it fits, how much more would, and what to change where it does not.
#pragma once

#include "planning/memory_plan.h"
#include "planning/memory_room.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

/// Another quantization of the same model.
struct PlannedAlternative {
  std::string name;  // of the artifact
  std::string repository;
  std::string format;
  std::optional<uint64_t> weight_bytes;  // published, to download
  uint64_t total_bytes = 0;              // with the context and sequences of the request
  std::optional<bool> fits;              // nullopt: nothing is known of the machine
  std::optional<int64_t> largest_context;
};

struct PlanAnswer {
  PlanRequest request;
  MemoryPlan plan;
  AvailableMemory machine;
  std::vector<MemoryBound> bounds;           // the one that binds first
  std::optional<bool> fits;                  // nullopt: nothing is known
  std::optional<int64_t> largest_context;    // at the request's sequences
  std::optional<int64_t> largest_sequences;  // at the request's context
  std::vector<PlannedAlternative> alternatives;
  std::vector<std::string> advice;  // sentences; empty where it fits

  const MemoryBound* binding() const { return bounds.empty() ? nullptr : &bounds.front(); }
};

/// Without alternatives and advice.
PlanAnswer answer_plan(const MemoryPlanner& planner, const PlanRequest& request, const AvailableMemory& machine, const MemoryWishes& wishes);

/// The same request with another quantization.
PlannedAlternative plan_alternative(const MemoryPlanner& planner, const PlanAnswer& answer);

/// What would make it fit, from the least to the most that it costs. @pre the alternatives are there
std::vector<std::string> advise(const MemoryPlanner& planner, const PlanAnswer& answer);

}  // namespace lagoon
