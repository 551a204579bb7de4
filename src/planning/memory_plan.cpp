#include "planning/memory_plan.h"

#include "base/byte_size.h"
#include "base/checked.h"
#include "kernels/attention_block.h"
#include "kernels/tile_layout.h"
#include "laguna/window.h"
#include "planning/kv_cost.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace lagoon {
namespace {

// What a process holds beside its ledger, as measured (docs/memory.md says how).
constexpr uint64_t program_bytes = 16u << 20;  // the program, its libraries and its heap with no model
constexpr uint64_t thread_bytes = 64u << 10;   // a thread's stack as far as it is used, and its heap
constexpr uint64_t matrix_bytes = 1024;        // what is kept of each matrix: its header, its names, its place
constexpr uint64_t text_factor = 6;            // a tokenizer's tables and merges against the bytes of its file
constexpr uint64_t least_text_bytes = 2u << 20;

std::string count(uint64_t number) { return format_count(number); }
std::string count(int64_t number) { return format_count(static_cast<uint64_t>(number)); }

/// "47 x [256 x 3072] bf16 of 1,572,864": every kind of matrix in the line, then what alignment adds.
PlanLine weight_line(const WeightLine& weights) {
  using Kind = std::tuple<int64_t, int64_t, std::string, uint64_t>;
  std::map<Kind, uint64_t> kinds;
  for (const WeightSource* matrix : weights.matrices) {
    const auto bytes = static_cast<uint64_t>(tile_count(matrix->rows) * tile_bytes(matrix->format, matrix->columns));
    ++kinds[{matrix->rows, matrix->columns, name_of(matrix->format), bytes}];
  }
  std::string formula;
  uint64_t sum = 0;
  for (const auto& [kind, matrices] : kinds) {
    const auto& [rows, columns, format, bytes] = kind;
    formula += fmt::format("{}{} x [{} x {}] {} of {}", formula.empty() ? "" : " + ", count(matrices), rows, columns, format, count(bytes));
    sum += matrices * bytes;
  }
  if (weights.bytes > sum) formula += fmt::format(" + {} to align experts", count(weights.bytes - sum));
  return {weights.name, weights.bytes, formula};
}

/// The largest n in [0, most] with fits(n), where fits holds up to some number and no further; fits(0) counts as true.
template <typename Fits>
int64_t largest(int64_t most, Fits&& fits) {
  int64_t low = 0;
  int64_t high = most;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

uint64_t MemoryPlan::total_bytes() const {
  uint64_t total = 0;
  for (const PlanLine& line : lines) total = saturating_add(total, line.bytes);
  return total;
}

CpuModelOptions options_of(const PlanRequest& request) {
  CpuModelOptions options = request.model;
  options.step_rows = std::min(options.step_rows, options.context);
  return options;
}

std::string describe_sequences(const PlanRequest& request) {
  const int64_t tokens = request.positions > 0 ? request.positions : request.model.context;
  return fmt::format("{} {} of {} tokens", count(request.sequences), request.sequences == 1 ? "sequence" : "sequences", count(tokens));
}

uint64_t text_memory(uint64_t file_bytes) { return file_bytes == 0 ? 0 : least_text_bytes + saturating_multiply(file_bytes, text_factor); }

MemoryPlanner::MemoryPlanner(const Checkpoint& checkpoint) : checkpoint_(checkpoint), reading_bytes_(ModelWeights::reading_bytes(checkpoint)) {
  for (const WeightLine& line : CpuModel::weight_lines(checkpoint)) {
    weights_.push_back(weight_line(line));
    matrices_ += line.matrices.size();
  }
}

void MemoryPlanner::add_sequences(const PlanRequest& request, const CpuModelOptions& options, MemoryPlan& plan) const {
  const ModelConfig& config = checkpoint_.config();
  const uint64_t page = KvCache::page_bytes(config, options.kv_element());
  const int64_t positions = request.positions > 0 ? request.positions : options.context;
  const int64_t pages[2] = {(positions + attention_block - 1) / attention_block,
                            ring_rows(usable_window(config), options.step_rows) / attention_block};
  const auto sequences = static_cast<uint64_t>(request.sequences);
  int kind = 0;
  for (MemoryLine& line : CpuModel::sequence_lines(config, options, positions)) {
    const int64_t layers = count_layers(config, kind == 0 ? AttentionKind::full : AttentionKind::sliding);
    std::string formula = fmt::format("{} sequences x {} layers x {} pages of {} tokens x {} bytes", count(sequences), layers, count(pages[kind]),
                                      int64_t{attention_block}, count(page));
    if (kind == 1) formula += fmt::format("; a ring holds window {} + chunk {} - 1 tokens", usable_window(config), options.step_rows);
    if (layers > 0) plan.lines.push_back({std::move(line.name), saturating_multiply(line.bytes, sequences), std::move(formula)});
    ++kind;
  }
}

PlanLine MemoryPlanner::runtime(int threads, uint64_t later) const {
  const auto workers = static_cast<uint64_t>(threads);
  // Buffers for reading are gone before what comes `later` takes their place.
  uint64_t weights = 0;
  for (const PlanLine& line : weights_) weights += line.bytes;
  const uint64_t reading = std::min(workers * reading_bytes_, weights);
  const uint64_t more = reading > later ? reading - later : 0;
  std::string formula = fmt::format("{} program and libraries + {} threads x {} stack and heap + {} matrices x {}", count(program_bytes), threads,
                                    count(thread_bytes), count(matrices_), matrix_bytes);
  if (more > 0) formula += fmt::format(" + {} for reading beyond what comes later", count(more));
  return {runtime_line, program_bytes + workers * thread_bytes + matrices_ * matrix_bytes + more, formula};
}

MemoryPlan MemoryPlanner::plan(const PlanRequest& request) const {
  const ModelConfig& config = checkpoint_.config();
  const CpuModelOptions options = options_of(request);
  MemoryPlan plan = {weights_};
  add_sequences(request, options, plan);

  const StepShape shape = CpuModel::step_shape(checkpoint_, options);
  const Activations::Cost cost = Activations::cost(config, shape);
  plan.lines.push_back({Activations::line_name, CpuModel::step_line(checkpoint_, options).bytes,
                        fmt::format("{} + {} rows x {} + {} spans x {}", count(cost.fixed), count(shape.rows), count(cost.per_row),
                                    count(Activations::slots(shape)), count(cost.per_slot))});

  const int64_t rows = request.logit_rows > 0 ? std::min(request.logit_rows, options.context) : request.sequences;
  const uint64_t row = static_cast<uint64_t>(config.vocabulary) * sizeof(float);
  plan.lines.push_back({logits_line, saturating_multiply(static_cast<uint64_t>(rows), row),
                        fmt::format("{} rows x {} ids x {} bytes", count(rows), count(int64_t{config.vocabulary}), sizeof(float))});
  uint64_t later = 0;
  for (size_t at = weights_.size(); at < plan.lines.size(); ++at) later = saturating_add(later, plan.lines[at].bytes);
  if (request.text_bytes > 0) {
    plan.lines.push_back({text_line, text_memory(request.text_bytes),
                          fmt::format("{} + {} bytes of files x {}", count(least_text_bytes), count(request.text_bytes), text_factor)});
  }
  for (const PlanLine& line : request.more) plan.lines.push_back(line);
  plan.lines.push_back(runtime(options.threads, later));
  return plan;
}

int64_t MemoryPlanner::largest_context(PlanRequest request, uint64_t bytes) const {
  if (request.positions > 0) request.sequences = 1;  // batches of short sequences beside one long one: the long one is asked for
  request.positions = 0;
  return largest(checkpoint_.config().max_context, [&](int64_t context) {
    request.model.context = context;
    return plan(request).total_bytes() <= bytes;
  });
}

int64_t MemoryPlanner::largest_sequences(PlanRequest request, uint64_t bytes) const {
  return largest(most_sequences, [&](int64_t sequences) {
    request.sequences = sequences;
    return plan(request).total_bytes() <= bytes;
  });
}

}  // namespace lagoon
