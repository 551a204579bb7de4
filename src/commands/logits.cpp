// logits: what a model computes for given token ids, for people who check conversions.
#include "base/error.h"
#include "base/json.h"
#include "checkpoint/safetensors_writer.h"
#include "commands/chat_input.h"
#include "commands/command.h"
#include "commands/interrupt.h"
#include "commands/model_choice.h"
#include "commands/model_options.h"
#include "commands/model_runner.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "commands/token_input.h"
#include "engine/token_ids.h"
#include "engine/token_progress.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace lagoon {
namespace {

struct Flags {
  std::string model;
  std::string ids;
  std::string output;
  std::string positions = "all";
  RunnerFlags runner;
};

/// Takes logits as they come. @param position  of the first row
using Rows = std::function<void(std::span<const float> logits, int64_t position)>;

/// Logits of all positions, step by step, or of the last alone.
void compute(Model& model, const std::vector<int32_t>& ids, bool all, ProgressLine& progress, const Rows& take) {
  const int64_t vocabulary = model.config().vocabulary;
  const auto count = static_cast<int64_t>(ids.size());
  std::vector<float> logits;  // [rows asked for][vocabulary]
  const TokenProgress shown = [&](int64_t done, int64_t total) { progress.update(static_cast<uint64_t>(done), static_cast<uint64_t>(total)); };
  const SequenceId sequence = model.create_sequence();
  for (int64_t begin = 0; begin < count;) {
    check_interrupt();
    const int64_t rows = std::min(model.step_rows(), count - begin);
    const bool last = begin + rows == count;
    const int64_t asked = all ? rows : (last ? 1 : 0);
    logits.resize(static_cast<size_t>(asked * vocabulary));
    const TokenSpan span{
        .sequence = sequence, .tokens = std::span(ids).subspan(static_cast<size_t>(begin), static_cast<size_t>(rows)), .logit_rows = asked};
    model.forward(std::span(&span, 1), MatrixView<float>(logits.data(), asked, vocabulary), within_step(shown, begin, rows, count));
    begin += rows;
    shown(begin, count);
    if (asked > 0) take(logits, begin - asked);
  }
  model.drop(sequence);
}

void print_top(std::span<const float> logits, int64_t vocabulary, int64_t first_position) {
  constexpr int64_t shown = 5;
  std::vector<int32_t> order(static_cast<size_t>(vocabulary));
  for (int64_t row = 0; row * vocabulary < static_cast<int64_t>(logits.size()); ++row) {
    const float* values = logits.data() + row * vocabulary;
    std::iota(order.begin(), order.end(), 0);
    const auto middle = order.begin() + std::min(shown, vocabulary);
    std::partial_sort(order.begin(), middle, order.end(),
                      [values](int32_t a, int32_t b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
    std::string line = fmt::format("{:>6}:", first_position + row);
    for (auto id = order.begin(); id != middle; ++id) line += fmt::format("  {} {:.4f}", *id, values[*id]);
    const auto odd = std::count_if(values, values + vocabulary, [](float value) { return !std::isfinite(value); });
    if (odd > 0) line += fmt::format("  ({} of {} logits are not finite)", odd, vocabulary);
    write_output(line + "\n");
  }
}

std::string progress_name(size_t at, size_t count) { return count == 1 ? "computing" : fmt::format("computing list {} of {}", at + 1, count); }

void print_all(Model& model, const std::vector<std::vector<int32_t>>& prompts, bool all, bool shows_progress) {
  for (size_t at = 0; at < prompts.size(); ++at) {
    if (prompts.size() > 1) write_output(fmt::format("logits_{}\n", at));
    ProgressLine progress(shows_progress, progress_name(at, prompts.size()), "tokens");
    compute(model, prompts[at], all, progress,
            [&](std::span<const float> logits, int64_t position) { print_top(logits, model.config().vocabulary, position); });
  }
}

std::vector<TensorDeclaration> declarations(const std::vector<std::vector<int32_t>>& prompts, bool all, int64_t vocabulary) {
  std::vector<TensorDeclaration> tensors;
  for (size_t at = 0; at < prompts.size(); ++at) {
    const int64_t positions = all ? static_cast<int64_t>(prompts[at].size()) : 1;
    tensors.push_back({.name = fmt::format("logits_{}", at), .type = StoredType::f32, .shape = {positions, vocabulary}});
  }
  return tensors;
}

int run(const Flags& flags, const Environment& environment) {
  if (flags.positions != "all" && flags.positions != "last")
    fail(ErrorKind::invalid, "--positions `{}`: write all or last", printable(flags.positions));
  const bool all = flags.positions == "all";
  const std::vector<std::vector<int32_t>> prompts = read_token_lists(flags.ids);
  size_t longest = 0;
  for (const auto& prompt : prompts) longest = std::max(longest, prompt.size());
  const Checkpoint checkpoint = open_weights(flags.model, environment);
  const int64_t vocabulary = checkpoint.config().vocabulary;
  for (const auto& prompt : prompts) check_token_ids(prompt, vocabulary);
  std::optional<SafetensorsWriter> writer;  // opened before the weights: a place that cannot be written is said at once
  if (!flags.output.empty()) writer.emplace(flags.output, declarations(prompts, all, vocabulary));
  PlanRequest plan = {.model = runner_options(flags.runner, checkpoint.config(), static_cast<int64_t>(longest))};
  plan.logit_rows = all ? options_of(plan).step_rows : 1;
  const LoadedModel loaded = load_model(printable(flags.model, 4096), checkpoint, plan, flags.runner, environment);
  const auto claimed = static_cast<uint64_t>(plan.logit_rows * vocabulary) * sizeof(float);
  const MemoryBudget::Claim logits = loaded.budget->claim(logits_line, claimed);
  if (writer) {
    for (size_t at = 0; at < prompts.size(); ++at) {
      ProgressLine progress(environment.error_is_terminal, progress_name(at, prompts.size()), "tokens");
      compute(*loaded.model, prompts[at], all, progress, [&](std::span<const float> values, int64_t) { writer->append(std::as_bytes(values)); });
    }
    writer->commit();
  } else {
    // What is printed to the terminal step by step shows by itself how far it is.
    print_all(*loaded.model, prompts, all, environment.error_is_terminal && (!all || !environment.output_is_terminal));
  }
  if (flags.runner.memory_report) environment.console.report(memory_report(loaded));
  return 0;
}

}  // namespace

Command declare_logits(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("logits", "Print or save the logits of given token ids");
  auto flags = std::make_shared<Flags>();
  parser->add_option("MODEL", flags->model, model_help)->required();
  of_one_run(parser->add_option("--ids", flags->ids, "JSON file: a list of token ids, or a list of such lists (- is standard input)"))
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  of_one_run(parser->add_option("--output", flags->output, "write logits_0, logits_1, ... to this safetensors file instead of printing the top 5"))
      ->check(not_empty())
      ->type_name("FILE");
  one_of(parser->add_option("--positions", flags->positions, "of which tokens"), {"all", "last"})->capture_default_str();
  add_runner_flags(*parser, flags->runner);
  refuse_speculation(*parser);
  return {
      parser,
      [flags](const Environment& environment) { return run(*flags, environment); },
      {{"echo \"[2, 97, 355]\" | lagoon logits nano --ids -", "the five likeliest tokens after each of three"},
       {"lagoon tokenize nano \"hi\" --json | lagoon logits nano --ids - --positions last --precision oracle", "after a text, in fp32 all through"}}};
}

}  // namespace lagoon
