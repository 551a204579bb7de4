#include "commands/model_runner.h"

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/error.h"
#include "commands/interrupt.h"
#include "commands/model_choice.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "commands/version.h"
#include "machine/available_memory.h"
#include "machine/file.h"
#include "machine/topology.h"
#include "planning/inspection.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>

namespace lagoon {
namespace {

constexpr int most_threads = 1024;
constexpr const char* computing_group = "Computing";
constexpr int64_t most_chunk = 8192;

Precision precision_named(const std::string& name) {
  if (name == "default") return Precision::standard;
  if (name == "oracle") return Precision::oracle;
  fail(ErrorKind::invalid, "--precision `{}`: write default or oracle", printable(name));
}

}  // namespace

void add_threads_flag(CLI::App& parser, RunnerFlags& flags) {
  number_in(parser.add_option("--threads", flags.threads, "threads that compute, 1 to 1024 (as many as cores may be used)"), 1, most_threads)
      ->group(computing_group);
}

void add_memory_flags(CLI::App& parser, RunnerFlags& flags) {
  const char* group = "Memory";
  number_in(parser.add_option("--chunk,--prefill-chunk", flags.chunk, "most tokens of one prefill step, 1 to 8192"), 1, most_chunk)
      ->capture_default_str()
      ->group(group);
  one_of(parser.add_option("--kv", flags.kv, "how keys and values are kept (bf16; f32 with --precision oracle)"), {"bf16", "f32"})->group(group);
  parser.add_option("--memory-limit", flags.memory_limit, "most memory to take, such as 48GiB (what the machine and its limits leave)")
      ->check(byte_size("--memory-limit"))
      ->type_name("SIZE")
      ->group(group);
  parser.add_option("--reserve", flags.reserve, "memory to leave free, such as 4GiB (a sixteenth of the machine's, at most 1GiB)")
      ->check(byte_size("--reserve"))
      ->type_name("SIZE")
      ->group(group);
}

void add_runner_flags(CLI::App& parser, RunnerFlags& flags) {
  const char* group = computing_group;
  add_threads_flag(parser, flags);
  std::vector<std::string> sets = {"auto"};
  sets.insert(sets.end(), kernel_set_names.begin(), kernel_set_names.end());
  one_of(parser.add_option("--kernels", flags.kernels, "kernel set; auto is the best that this processor runs"), sets)
      ->capture_default_str()
      ->group(group);
  one_of(parser.add_option("--precision", flags.precision, "oracle is fp32 all through, in plain loops"), {"default", "oracle"})
      ->capture_default_str()
      ->group(group);
  add_memory_flags(parser, flags);
  parser.add_flag("--memory-report", flags.memory_report, "at the end, the plan beside what was held, on standard error")->group("Memory");
}

CpuModelOptions runner_options(const RunnerFlags& flags, const ModelConfig& config, int64_t context) {
  if (context > config.max_context) {
    fail(ErrorKind::invalid, "{} tokens of context are asked for, the checkpoint is made for {} (max_position_embeddings); ask for at most that",
         format_count(static_cast<uint64_t>(context)), format_count(static_cast<uint64_t>(config.max_context)));
  }
  if (!flags.kv.empty() && flags.kv != "bf16" && flags.kv != "f32")
    fail(ErrorKind::invalid, "--kv `{}`: write bf16 or f32; Lagoon keeps keys and values in no other form", printable(flags.kv));
  CpuModelOptions options = {.precision = precision_named(flags.precision),
                             .step_rows = flags.chunk,
                             .context = context,
                             .threads = flags.threads > 0 ? flags.threads : usable_cores(),
                             .kernels = &kernel_set_named(flags.kernels, detect_cpu_features())};
  if (!flags.kv.empty()) options.kv = flags.kv == "f32" ? ElementType::f32 : ElementType::bf16;
  return options;
}

MemoryWishes memory_wishes(const RunnerFlags& flags, const Environment& environment) {
  MemoryWishes wishes = {.memory_limit = environment.memory_limit, .limit_name = "memory_limit of the config file", .reserve = environment.reserve};
  if (!flags.memory_limit.empty()) {
    wishes.memory_limit = parse_byte_size(flags.memory_limit, "--memory-limit");
    wishes.limit_name = "--memory-limit";
  }
  if (!flags.reserve.empty()) wishes.reserve = parse_byte_size(flags.reserve, "--reserve");
  return wishes;
}

namespace {

/// What the reader can do, in the order of how much it takes.
std::string way_out(const MemoryPlanner& planner, const PlanRequest& request, const MemoryBound& bound) {
  constexpr int64_t small_chunk = 64;
  const int64_t context = planner.largest_context(request, bound.room());
  PlanRequest smaller = request;
  smaller.model.step_rows = std::min(request.model.step_rows, small_chunk);
  smaller.logit_rows = std::min(request.logit_rows, small_chunk);
  const bool chunk_helps = options_of(request).step_rows > small_chunk && planner.plan(smaller).total_bytes() <= bound.room();
  const std::string chunk = chunk_helps ? fmt::format("with --chunk {} it would fit; ", small_chunk) : "";
  if (context > 0) {
    return fmt::format(
        "{}the largest context that would fit is {} tokens ({}); or raise the limit, close other programs, or take a smaller quantization", chunk,
        format_count(static_cast<uint64_t>(context)), context);
  }
  return chunk + "no context would fit; raise the limit, close other programs, or take a smaller quantization (`lagoon plan MODEL` says which)";
}

std::string parts_of(const MemoryPlan& plan) {
  uint64_t weights = 0;
  uint64_t keys = 0;
  for (const PlanLine& line : plan.lines) {
    if (line.name.starts_with("weights: ")) weights = saturating_add(weights, line.bytes);
    if (line.name.starts_with("KV: ")) keys = saturating_add(keys, line.bytes);
  }
  return fmt::format("weights {}, keys and values {}, the rest {}", format_gib(weights), format_gib(keys),
                     format_gib(plan.total_bytes() - weights - keys));
}

/// The bound that binds; nullopt if nothing is known.
std::optional<MemoryBound> check_memory(const std::string& name, const MemoryPlanner& planner, const PlanRequest& request, const MemoryPlan& plan,
                                        const std::vector<MemoryBound>& bounds, const Console& console) {
  const uint64_t need = plan.total_bytes();
  if (bounds.empty()) {
    console.warning(fmt::format("this system does not say how much memory is free; {} needs {} for {} ({})", name, format_gib(need),
                                describe_sequences(request), parts_of(plan)));
    return std::nullopt;
  }
  const MemoryBound& bound = bounds.front();
  if (need > bound.room()) {
    const std::string reserve = bound.reserve > 0 ? fmt::format(" less {} of reserve", format_gib(bound.reserve)) : "";
    fail(ErrorKind::over_budget, "{} needs {} for {} ({}), {} are available ({}{}): {}", name, format_gib(need), describe_sequences(request),
         parts_of(plan), format_gib(bound.room()), bound.name, reserve, way_out(planner, request, bound));
  }
  return bound;
}

/// What --verbose says before anything loads.
void describe_plan(const Checkpoint& checkpoint, const PlanRequest& request, const MemoryPlan& plan, const std::optional<MemoryBound>& bound,
                   const Console& console) {
  const CpuModelOptions options = options_of(request);
  const ModelLocation& location = checkpoint.location();
  console.detail(location.found_in.empty() ? "model: made of headers alone"
                                           : fmt::format("model: {} ({})", printable_path(location.folder), location.found_in));
  console.detail(fmt::format("format: {}, {} of weights in {} files", format_summary(checkpoint), format_gib(checkpoint.weight_bytes()),
                             checkpoint.files().size()));
  console.detail(fmt::format("kernel set: {}", options.kernels->name));
  console.detail(fmt::format("threads: {}, precision: {}", options.threads, options.precision == Precision::oracle ? "oracle" : "default"));
  console.detail(fmt::format("plan: {} for {} ({})", format_gib(plan.total_bytes()), describe_sequences(request), parts_of(plan)));
  if (bound) console.detail(fmt::format("memory: {} available ({})", format_gib(bound->room()), bound->name));
}

}  // namespace

LoadedModel load_model(const std::string& name, const Checkpoint& checkpoint, const PlanRequest& request, const RunnerFlags& flags,
                       const Environment& environment) {
  const MemoryPlanner planner(checkpoint);
  LoadedModel loaded = {.plan = planner.plan(request)};
  MemoryWishes wishes = memory_wishes(flags, environment);
  wishes.threads = request.model.threads;
  const std::optional<MemoryBound> bound =
      check_memory(name, planner, request, loaded.plan, memory_bounds(environment.memory, wishes), environment.console);
  describe_plan(checkpoint, request, loaded.plan, bound, environment.console);
  if (bound) loaded.memory_left = bound->room() - loaded.plan.total_bytes();
  if (const std::string note = location_note(checkpoint); !note.empty()) environment.console.note(note);
  for (const std::string& assumption : checkpoint.assumptions()) environment.console.warning(assumption);
  leave_in_time();
  loaded.budget = std::make_unique<MemoryBudget>(bound ? bound->room() : MemoryBudget::unlimited);
  for (const PlanLine& line : loaded.plan.lines) {
    if (line.name == text_line || line.name == runtime_line) loaded.claims.push_back(loaded.budget->claim(line.name, line.bytes));
  }
  ProgressLine progress(environment.error_is_terminal, "reading weights", "bytes");
  const auto start = std::chrono::steady_clock::now();
  loaded.model = std::make_unique<CpuModel>(checkpoint, options_of(request), *loaded.budget, [&progress](uint64_t done, uint64_t total) {
    check_interrupt();
    progress.update(done, total);
  });
  loaded.model->observe({.check = check_interrupt});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  environment.console.detail(fmt::format("weights: {} read in {:.2f} s", format_gib(checkpoint.weight_bytes()), took.count()));
  return loaded;
}

std::optional<int64_t> context_that_fits(const Checkpoint& checkpoint, const Environment& environment) {
  const std::vector<MemoryBound> bounds = memory_bounds(environment.memory, memory_wishes({}, environment));
  if (bounds.empty()) return std::nullopt;
  const PlanRequest request = {.model = runner_options({}, checkpoint.config(), 1), .text_bytes = text_bytes_of(checkpoint.folder())};
  return MemoryPlanner(checkpoint).largest_context(request, bounds.front().room());
}

}  // namespace lagoon
