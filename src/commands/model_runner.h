// model_runner.h: what the commands that compute share: their flags, the look at memory before anything loads, and loading.
#pragma once

#include "commands/environment.h"
#include "laguna/cpu_model.h"

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
};

/// Adds --threads, --kernels, --precision and --chunk.
void add_runner_flags(CLI::App& parser, RunnerFlags& flags);

/// Bytes that a command takes beside a model with one sequence of options.context tokens.
struct MoreMemory {
  uint64_t cache = 0;      // keys and values of further sequences
  uint64_t workspace = 0;  // buffers of the command's own
};

/// Refuses what cannot fit, with need and have; warns on standard error where the machine does not say what it has.
/// @return the bytes that are left beside all that; nullopt if the machine does not say. @throws Error(over_budget)
std::optional<uint64_t> check_memory(const std::string& model, const Checkpoint& checkpoint, const CpuModelOptions& options,
                                     const MoreMemory& more = {});

/// What flags and context come to. @throws Error(invalid)
/// @param context  positions of the longest sequence; more than the checkpoint has is an error
CpuModelOptions runner_options(const RunnerFlags& flags, const ModelConfig& config, int64_t context);

/// A loaded model and the ledger it lives on.
struct LoadedModel {
  std::optional<uint64_t> memory_left;  // of check_memory()
  std::unique_ptr<MemoryBudget> budget;
  std::unique_ptr<CpuModel> model;
};

/// Looks at memory, then loads.
LoadedModel load_model(const std::string& name, const Checkpoint& checkpoint, const CpuModelOptions& options, const Environment& environment,
                       const MoreMemory& more = {});

}  // namespace lagoon
