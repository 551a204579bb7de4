#include "commands/model_runner.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "commands/interrupt.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "machine/available_memory.h"
#include "machine/topology.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace lagoon {
namespace {

/// Tokenizer, template, stacks and the C library: what a process holds beside the ledger.
constexpr uint64_t runtime_bytes = 128u << 20;

constexpr int most_threads = 1024;
constexpr int64_t most_chunk = 8192;

Precision precision_named(const std::string& name) {
  if (name == "default") return Precision::standard;
  if (name == "oracle") return Precision::oracle;
  fail(ErrorKind::invalid, "--precision `{}`: write default or oracle", printable(name));
}

}  // namespace

void add_runner_flags(CLI::App& parser, RunnerFlags& flags) {
  parser.add_option("--threads", flags.threads, "threads that compute, 1 to 1024 (as many as cores may be used)")->transform(whole_number<int>());
  parser.add_option("--kernels", flags.kernels, "kernel set: auto, avx512-vnni, avx512, avx2 or scalar")->capture_default_str();
  parser.add_option("--precision", flags.precision, "default, or oracle: fp32 all through")->capture_default_str();
  parser.add_option("--chunk", flags.chunk, "most tokens of one prefill step, 1 to 8192")->transform(whole_number<int64_t>())->capture_default_str();
}

CpuModelOptions runner_options(const RunnerFlags& flags, const ModelConfig& config, int64_t context) {
  if (context > config.max_context) {
    fail(ErrorKind::invalid, "{} tokens of context are asked for, the checkpoint is made for {} (max_position_embeddings); ask for at most that",
         format_count(static_cast<uint64_t>(context)), format_count(static_cast<uint64_t>(config.max_context)));
  }
  if (flags.threads < 0 || flags.threads > most_threads)
    fail(ErrorKind::invalid, "--threads {}: write a number from 1 to {}", flags.threads, most_threads);
  if (flags.chunk < 1 || flags.chunk > most_chunk) fail(ErrorKind::invalid, "--chunk {}: write a number from 1 to {}", flags.chunk, most_chunk);
  return {.precision = precision_named(flags.precision),
          .step_rows = std::min(flags.chunk, context),
          .context = context,
          .threads = flags.threads > 0 ? flags.threads : usable_cores(),
          .kernels = &kernel_set_named(flags.kernels, detect_cpu_features())};
}

std::optional<uint64_t> check_memory(const std::string& model, const Checkpoint& checkpoint, const CpuModelOptions& options, const MoreMemory& more) {
  const uint64_t weights = CpuModel::weight_bytes(checkpoint);
  const uint64_t cache = CpuModel::sequence_bytes(checkpoint.config(), options, options.context) + more.cache;
  const uint64_t workspace = CpuModel::step_bytes(checkpoint, options) + runtime_bytes + more.workspace;
  const uint64_t need = weights + cache + workspace;
  const AvailableMemory memory = read_available_memory();
  const std::optional<uint64_t> usable = memory.usable();
  if (!usable) {
    write_error(fmt::format("lagoon: this system does not say how much memory is free; {} needs {}\n", model, format_gib(need)));
    return std::nullopt;
  }
  if (need > *usable) {
    fail(ErrorKind::over_budget,
         "{} needs {} (weights {}, keys and values of {} tokens {}, workspace {}), {} are available ({}); close other programs, ask for a "
         "shorter context or "
         "take a smaller quantization",
         model, format_gib(need), format_gib(weights), format_count(static_cast<uint64_t>(options.context)), format_gib(cache), format_gib(workspace),
         format_gib(*usable), memory.binding());
  }
  return *usable - need;
}

LoadedModel load_model(const std::string& name, const Checkpoint& checkpoint, const CpuModelOptions& options, const Environment& environment,
                       const MoreMemory& more) {
  LoadedModel loaded;
  loaded.memory_left = check_memory(name, checkpoint, options, more);
  watch_interrupts();
  loaded.budget = std::make_unique<MemoryBudget>();
  ProgressLine progress(environment.error_is_terminal, "reading weights");
  loaded.model = std::make_unique<CpuModel>(checkpoint, options, *loaded.budget, [&progress](uint64_t done, uint64_t total) {
    check_interrupt();
    progress.update(done, total);
  });
  loaded.model->observe({.layer = check_interrupt});
  return loaded;
}

}  // namespace lagoon
