// model_runner.h: what the commands that compute share: their flags, the look at memory before anything loads, and loading.
#pragma once

#include "commands/environment.h"
#include "laguna/cpu_model.h"

#include <memory>
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
};

/// Adds --threads, --kernels, --precision and --chunk.
void add_runner_flags(CLI::App& parser, RunnerFlags& flags);

/// Refuses what cannot fit, with need and have; warns on standard error where the machine does not say what it has.
/// @param more_cache  keys and values beside those of one sequence of options.context tokens
/// @throws Error(over_budget)
void check_memory(const std::string& model, const Checkpoint& checkpoint, const CpuModelOptions& options, uint64_t more_cache = 0);

/// What flags and context come to. @throws Error(invalid)
CpuModelOptions runner_options(const RunnerFlags& flags, const ModelConfig& config, int64_t context);

/// A loaded model and the ledger it lives on.
struct LoadedModel {
  std::unique_ptr<MemoryBudget> budget;
  std::unique_ptr<CpuModel> model;
};

/// @param context  positions of the longest sequence; more than the checkpoint has is an error
LoadedModel load_model(const std::string& name, const Checkpoint& checkpoint, const RunnerFlags& flags, int64_t context,
                       const Environment& environment, uint64_t more_cache = 0);

}  // namespace lagoon
