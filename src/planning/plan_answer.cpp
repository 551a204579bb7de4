#include "planning/plan_answer.h"

#include "base/byte_size.h"
#include "base/checked.h"

#include <fmt/format.h>

#include <algorithm>

namespace lagoon {
namespace {

constexpr int64_t small_chunk = 128;

std::string count(int64_t number) { return format_count(static_cast<uint64_t>(number)); }

bool would_fit(const MemoryPlanner& planner, const PlanRequest& request, const MemoryBound& bound) {
  return planner.plan(request).total_bytes() <= bound.room();
}

/// Flags that ask for less.
void advise_flags(const MemoryPlanner& planner, const PlanAnswer& answer, std::vector<std::string>& advice) {
  const PlanRequest& request = answer.request;
  const MemoryBound& bound = *answer.binding();
  PlanRequest changed = request;
  changed.model.step_rows = small_chunk;
  if (request.model.step_rows > small_chunk && would_fit(planner, changed, bound))
    advice.push_back(fmt::format("--prefill-chunk {}: it fits, and reads prompts a little slower", small_chunk));
  if (*answer.largest_sequences > 0)
    advice.push_back(fmt::format("--sequences {}: so many fit with a context of {}", *answer.largest_sequences, count(request.model.context)));
  if (*answer.largest_context > 0)
    advice.push_back(fmt::format("--context {}: the largest that fits with {} {}", *answer.largest_context, count(request.sequences),
                                 request.sequences == 1 ? "sequence" : "sequences"));
  changed = request;
  changed.model.kv = ElementType::bf16;
  if (request.model.kv_element() == ElementType::f32) {
    const uint64_t less = answer.plan.total_bytes() - planner.plan(changed).total_bytes();
    advice.push_back(fmt::format("--kv bf16: {} less{}", format_gib(less), would_fit(planner, changed, bound) ? ", and it fits" : ""));
  }
}

/// More memory: by a limit that can be raised, or by other programs that can be closed.
void advise_room(const PlanAnswer& answer, std::vector<std::string>& advice) {
  const MemoryBound& bound = *answer.binding();
  const uint64_t need = saturating_add(answer.plan.total_bytes(), bound.reserve);
  if (bound.name == "--machine-memory") return;
  if (bound.name != "MemAvailable") {
    advice.push_back(fmt::format("raise {}: {} are left under it, {} are needed", bound.name, format_gib(bound.bytes), format_gib(need)));
  } else if (answer.machine.total && need <= *answer.machine.total) {
    advice.push_back(fmt::format("close other programs: the machine has {}, of which {} are free now and {} are needed",
                                 format_gib(*answer.machine.total), format_gib(bound.bytes), format_gib(need)));
  }
  if (bound.reserve > 0 && answer.plan.total_bytes() <= bound.bytes)
    advice.push_back(fmt::format("--reserve 0B: it fits if nothing is left to other programs; {} are reserved", format_gib(bound.reserve)));
}

/// The largest quantization that fits.
void advise_quantization(const PlanAnswer& answer, std::vector<std::string>& advice) {
  const PlannedAlternative* best = nullptr;
  for (const PlannedAlternative& one : answer.alternatives) {
    if (one.fits == true && (best == nullptr || one.total_bytes > best->total_bytes)) best = &one;
  }
  if (best == nullptr) return;
  advice.push_back(fmt::format("take {} ({}): it needs {} with this context", best->repository, best->format, format_gib(best->total_bytes)));
}

}  // namespace

PlanAnswer answer_plan(const MemoryPlanner& planner, const PlanRequest& request, const AvailableMemory& machine, const MemoryWishes& wishes) {
  PlanAnswer answer = {.request = request, .plan = planner.plan(request), .machine = machine, .bounds = memory_bounds(machine, wishes)};
  const MemoryBound* bound = answer.binding();
  if (bound == nullptr) return answer;
  answer.fits = answer.plan.total_bytes() <= bound->room();
  answer.largest_context = planner.largest_context(request, bound->room());
  answer.largest_sequences = planner.largest_sequences(request, bound->room());
  return answer;
}

PlannedAlternative plan_alternative(const MemoryPlanner& planner, const PlanAnswer& answer) {
  PlannedAlternative alternative;
  PlanRequest request = answer.request;
  request.model.context = std::min(request.model.context, planner.checkpoint().config().max_context);
  alternative.total_bytes = planner.plan(request).total_bytes();
  if (const MemoryBound* bound = answer.binding()) {
    alternative.fits = alternative.total_bytes <= bound->room();
    alternative.largest_context = planner.largest_context(request, bound->room());
  }
  return alternative;
}

std::vector<std::string> advise(const MemoryPlanner& planner, const PlanAnswer& answer) {
  std::vector<std::string> advice;
  if (answer.fits != false) return advice;
  advise_flags(planner, answer, advice);
  advise_room(answer, advice);
  advise_quantization(answer, advice);
  if (advice.empty()) {
    advice.push_back(
        fmt::format("it needs a machine with {} of free memory", format_gib(saturating_add(answer.plan.total_bytes(), answer.binding()->reserve))));
  }
  return advice;
}

}  // namespace lagoon
