// model_runner.h: what the commands that compute share: their flags, the plan before anything loads, loading, and the report of what
// was held.
#pragma once

#include "base/json.h"
#include "commands/environment.h"
#include "laguna/cpu_model.h"
#include "planning/memory_plan.h"
#include "planning/memory_room.h"

#include <memory>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace lagoon {

struct RunnerFlags {
  int64_t context = 0;  // tokens; 0: not given
  int64_t chunk = 512;  // most tokens of one step
  int threads = 0;      // 0: as many cores as this process may use
  std::string kernels = "auto";
  std::string precision = "default";
  std::string kv;            // empty: as the precision has it
  std::string memory_limit;  // sizes as base/byte_size.h reads them; empty: what the config file says
  std::string reserve;
  bool memory_report = false;
};

/// Without --context: the checkpoint's own, but no more than this, since the memory for all of it must be there.
constexpr int64_t usual_context = 32768;

/// Adds --threads, --kernels, --precision, --kv, --chunk, --memory-limit, --reserve and --memory-report.
void add_runner_flags(CLI::App& parser, RunnerFlags& flags);

/// --threads alone.
void add_threads_flag(CLI::App& parser, RunnerFlags& flags);

/// Adds --kv, --chunk, --memory-limit and --reserve: what a plan depends on.
void add_memory_flags(CLI::App& parser, RunnerFlags& flags);

/// What flags and context come to; step_rows is the chunk, which a plan cuts to the context. @throws Error(invalid)
/// @param context  positions of the longest sequence; more than the checkpoint has is an error
CpuModelOptions runner_options(const RunnerFlags& flags, const ModelConfig& config, int64_t context);

/// Flags win over the config file. @throws Error(invalid)
MemoryWishes memory_wishes(const RunnerFlags& flags, const Environment& environment);

/// A loaded model, the ledger it lives on, and the plan that the ledger must equal.
struct LoadedModel {
  MemoryPlan plan;
  std::optional<uint64_t> memory_left;  // bytes beside the plan; nullopt if the machine does not say
  std::unique_ptr<MemoryBudget> budget;
  std::vector<MemoryBudget::Claim> claims;  // of what is no model's own: texts and runtime
  std::unique_ptr<CpuModel> model;
};

/// Plans, refuses what does not fit, with need, have, the bound that binds and the largest context that would fit; warns on standard error
/// where nothing is known; then loads.
/// @throws Error(over_budget)
LoadedModel load_model(const std::string& name, const Checkpoint& checkpoint, const PlanRequest& request, const RunnerFlags& flags,
                       const Environment& environment);

/// `--memory-report`: each line of the plan beside what the ledger holds, and what the kernel counted. Ends with a newline.
std::string memory_report(const LoadedModel& loaded);

/// The same as JSON: {"lines": [{"name", "planned_bytes", "held_bytes"}], "planned_bytes", "held_bytes", "peak_resident_bytes"}
Json memory_report_json(const LoadedModel& loaded);

/// The longest context that this machine has room for, of one sequence, with the usual chunk and threads; 0: none. nullopt if the machine
/// does not say what it has.
std::optional<int64_t> context_that_fits(const Checkpoint& checkpoint, const Environment& environment);

}  // namespace lagoon
