// plan: how much memory a model will need, and whether it is there, before anything loads.
#include "base/byte_size.h"
#include "base/error.h"
#include "base/json.h"
#include "benchmark/table.h"
#include "checkpoint/synthetic.h"
#include "checkpoint/synthetic_shapes.h"
#include "commands/command.h"
#include "commands/model_choice.h"
#include "commands/model_options.h"
#include "commands/model_runner.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "commands/plan_output.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lagoon {
namespace {

struct Flags {
  std::string model;
  std::string config;
  std::string quantization;
  std::string machine_memory;
  int64_t sequences = 1;
  bool json = false;
  bool explain = false;
  bool artifacts = false;
  RunnerFlags runner;
  CLI::App* parser = nullptr;

  bool given(const std::string& option) const { return parser->count(option) > 0; }
};

void check_flags(const Flags& flags) {
  const int subjects = static_cast<int>(!flags.model.empty()) + static_cast<int>(!flags.config.empty()) + static_cast<int>(flags.artifacts);
  if (subjects != 1) fail(ErrorKind::invalid, "plan needs one of these: MODEL, --config FILE with --quantization MAP, or --artifacts");
  if (flags.config.empty() != flags.quantization.empty())
    fail(ErrorKind::invalid, "--config and --quantization go together: a config.json says the shape, a map says the formats");
}

/// Whether two configs describe one model, whatever the quantization.
bool same_model(const ModelConfig& a, const ModelConfig& b) {
  return a.hidden == b.hidden && a.layer_count() == b.layer_count() && a.experts == b.experts && a.expert_width == b.expert_width &&
         a.experts_per_token == b.experts_per_token && a.vocabulary == b.vocabulary &&
         a.full_rotary.original_context == b.full_rotary.original_context;
}

/// Every known quantization of the same model that Lagoon runs, the largest first.
std::vector<PlannedAlternative> alternatives_of(const ChosenModel& chosen, const PlanAnswer& answer, const std::vector<Artifact>& artifacts) {
  std::vector<PlannedAlternative> alternatives;
  for (const Artifact& artifact : artifacts) {
    if (!artifact.formats || (chosen.artifact && chosen.artifact->name == artifact.name)) continue;
    const PublishedShape& shape = *find_shape(artifact.model);
    if (!same_model(read_model_config(config_of(shape, shape.layers), "config.json"), chosen.checkpoint.config())) continue;
    const Checkpoint checkpoint = open_artifact(artifact);
    PlannedAlternative alternative = plan_alternative(MemoryPlanner(checkpoint), answer);
    alternative.name = artifact.name;
    alternative.repository = artifact.repository;
    alternative.format = artifact.format;
    alternative.weight_bytes = artifact.weight_bytes;
    alternatives.push_back(std::move(alternative));
  }
  std::stable_sort(alternatives.begin(), alternatives.end(),
                   [](const PlannedAlternative& a, const PlannedAlternative& b) { return a.total_bytes > b.total_bytes; });
  return alternatives;
}

int list_artifacts(const Flags& flags, const Environment& environment) {
  const std::vector<Artifact> artifacts = artifacts_of(environment);
  if (flags.json) {
    write_output(artifacts_json(artifacts).dump(2) + "\n");
    return 0;
  }
  write_output(artifacts_text(artifacts, environment.artifacts_folder));
  return 0;
}

int run(const Flags& flags, const Environment& environment) {
  check_flags(flags);
  if (flags.artifacts) return list_artifacts(flags, environment);
  const ChosenModel chosen =
      flags.config.empty() ? choose_model(flags.model, environment) : describe_model(flags.config, flags.quantization, environment);
  const int64_t most = chosen.checkpoint.config().max_context;
  const int64_t context = flags.runner.context > 0 ? flags.runner.context : std::min(usual_context, most);
  const PlanRequest request = {
      .model = runner_options(flags.runner, chosen.checkpoint.config(), context), .sequences = flags.sequences, .text_bytes = chosen.text_bytes};
  MemoryWishes wishes = memory_wishes(flags.runner, environment);
  if (!flags.machine_memory.empty()) wishes.machine = parse_byte_size(flags.machine_memory, "--machine-memory");

  wishes.threads = request.model.threads;
  const MemoryPlanner planner(chosen.checkpoint);
  PlanAnswer answer = answer_plan(planner, request, environment.memory, wishes);
  answer.alternatives = alternatives_of(chosen, answer, artifacts_of(environment));
  answer.advice = advise(planner, answer);
  if (answer.bounds.empty()) {
    environment.console.warning(
        fmt::format("this system does not say how much memory is free; {} needs {}", chosen.name, format_gib(answer.plan.total_bytes())));
  }
  write_output(flags.json ? plan_json(chosen, answer, flags.explain).dump(2) + "\n" : plan_text(chosen, answer, flags.explain));
  return 0;
}

}  // namespace

Command declare_plan(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("plan", "Say how much memory a model needs, and what fits, before anything loads");
  auto flags = std::make_shared<Flags>();
  flags->parser = parser;
  parser->add_option("MODEL", flags->model, "a model of this machine, a known artifact (--artifacts lists them), or a SPEC: " + synthetic_spec_help())
      ->check(not_empty());
  of_one_run(parser->add_option("--config", flags->config, "instead of MODEL: a config.json"))->check(not_empty())->type_name("FILE");
  of_one_run(parser->add_option("--quantization", flags->quantization,
                                "with --config: bf16, BITS/GROUP such as 4/64, a known artifact, or a JSON file with a quantization block"))
      ->check(not_empty())
      ->type_name("MAP");
  of_one_run(parser->add_flag("--artifacts", flags->artifacts, "list the published quantizations that are known without a download"));
  number_in(parser->add_option("--context", flags->runner.context, "tokens of each sequence (the checkpoint's, at most 32768)"), 1);
  number_in(parser->add_option("--sequences", flags->sequences, "sequences at once"), 1, MemoryPlanner::most_sequences)->capture_default_str();
  add_memory_flags(*parser, flags->runner);
  add_threads_flag(*parser, flags->runner);
  parser->add_option("--machine-memory", flags->machine_memory, "plan for a machine with so much free memory instead of this one")
      ->check(byte_size("--machine-memory"))
      ->type_name("SIZE");
  parser->add_flag("--explain", flags->explain, "the formula of each line, with numbers put in");
  parser->add_flag("--json", flags->json, "one JSON object");
  refuse_speculation(*parser);
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"lagoon plan nano --context 4096 --explain", "each line of the plan with its formula"},
           {"lagoon plan s-2.1-oq4e --machine-memory 96GiB --context 131072", "a published quantization on another machine, without a download"}}};
}

}  // namespace lagoon
