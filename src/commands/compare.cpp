// compare: the facts of several models side by side.
#include "planning/compare.h"

#include "base/error.h"
#include "benchmark/table.h"
#include "commands/command.h"
#include "commands/facts_options.h"
#include "commands/interrupt.h"
#include "commands/model_choice.h"
#include "commands/model_runner.h"
#include "commands/option_checks.h"
#include "commands/progress.h"
#include "commands/version.h"
#include "planning/compare_page.h"
#include "planning/memory_curve.h"
#include "planning/memory_room.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace lagoon {
namespace {

struct Flags {
  std::vector<std::string> models;
  std::string format = "table";
  std::string output;
  KvFlags kv;
};

/// What the page calculates memory from: the plan as a curve, and this machine.
Json memory_of(const ChosenModel& model, const Environment& environment) {
  const AvailableMemory& machine = environment.memory;
  const MemoryWishes wishes = memory_wishes({}, environment);
  const std::vector<MemoryBound> bounds = memory_bounds(machine, wishes);
  const PlanRequest request = {.model = runner_options({}, model.checkpoint.config(), 1), .text_bytes = model.text_bytes};
  Json memory = memory_curve(MemoryPlanner(model.checkpoint), request);
  memory["reserve_bytes"] = wishes.reserve.value_or(usual_reserve(machine.total));
  memory["machine"] = {{"available_bytes", bounds.empty() ? Json() : Json(bounds.front().bytes)},
                       {"total_bytes", machine.total ? Json(*machine.total) : Json()},
                       {"limit", bounds.empty() ? Json() : Json(bounds.front().name)}};
  return memory;
}

std::string csv_of(const std::vector<ComparedModel>& models) {
  std::vector<std::vector<std::string>> lines = comparison_values(models);
  Table table{lines.front(), {lines.begin() + 1, lines.end()}};
  return table.format(TableForm::csv);
}

std::string answer(const std::string& format, const std::vector<ComparedModel>& models) {
  const std::string generator = "lagoon " + version();
  if (format == "json") return comparison_json(models, generator).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (format == "html") return compare_page(models, generator);
  if (format == "csv") return csv_of(models);
  return format == "markdown" ? comparison_markdown(models) : comparison_table(models);
}

StoredWeights stored_of(const ChosenModel& model) {
  if (model.formats_known) return stored_weights(model.checkpoint, model.headers_place);
  return {model.artifact->weight_bytes, model.artifact->format, {"published", model.artifact->source, ""}};
}

ComparedModel compare_one(const ChosenModel& model, const std::vector<PublishedModel>& known, const KvRequest& kv, const Environment& environment) {
  const PublishedModel* published = find_published_model(known, model.checkpoint.config());
  ComparedModel compared = compared_model(model.name, model.kind, model.checkpoint, published, kv, stored_of(model), model.headers_place);
  if (model.formats_known) compared.memory = memory_of(model, environment);
  compared.location = location_json(model.checkpoint);
  return compared;
}

int run(const Flags& flags, const Environment& environment) {
  check_format(flags.format, {"table", "markdown", "json", "csv", "html"});
  if (flags.models.size() < 2) fail(ErrorKind::invalid, "compare: one model was given; give two or more");
  const KvRequest kv = kv_request_of(flags.kv);
  const std::vector<PublishedModel> known = published_models();
  std::vector<ComparedModel> models;
  leave_in_time();
  ProgressLine progress(environment.error_is_terminal, "looking at models", "models");
  for (const std::string& name : flags.models) {
    check_interrupt();
    progress.update(models.size(), flags.models.size());
    models.push_back(compare_one(choose_model(name, environment, ModelNeed::shape), known, kv, environment));
  }
  progress.update(1, 1);  // done
  write_answer(answer(flags.format, models), flags.output);
  return 0;
}

}  // namespace

Command declare_compare(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("compare", "Show the facts of several models side by side");
  auto flags = std::make_shared<Flags>();
  parser->add_option("MODEL", flags->models, "two or more of what `lagoon facts` takes")->required()->check(not_empty());
  one_of(parser->add_option("--format", flags->format, "how the answer is written"), {"table", "markdown", "json", "csv", "html"})
      ->capture_default_str();
  of_one_run(parser->add_option("--output", flags->output, "write to this file instead of standard output"))->check(not_empty())->type_name("FILE");
  add_kv_flags(*parser, flags->kv);
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"lagoon compare nano s-2.1-oq4e", "a model of this machine beside a published quantization"},
           {"lagoon compare nano laguna-xs-2.1 --format html --output compare.html", "the same as a page for a browser"}}};
}

}  // namespace lagoon
