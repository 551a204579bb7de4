// models: what is on this machine, and whether it can be run here.
#include "base/byte_size.h"
#include "base/error.h"
#include "benchmark/table.h"
#include "checkpoint/known_models.h"
#include "commands/command.h"
#include "commands/interrupt.h"
#include "commands/model_listing.h"
#include "commands/output.h"
#include "machine/file.h"
#include "planning/facts_counts.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace lagoon {
namespace {

struct Flags {
  bool json = false;
};

std::string context_of(const ModelSizes& sizes) {
  const auto most = static_cast<uint64_t>(sizes.max_context);
  if (!sizes.context_here) return fmt::format("? of {}", format_count(most));
  const auto here = static_cast<uint64_t>(*sizes.context_here);
  return here == most ? format_count(here) : fmt::format("{} of {}", format_count(here), format_count(most));
}

/// "laguna, 48 layers, 256 experts": what JSON has as LagunaForCausalLM.
std::string architecture_of(const ModelSizes& sizes) {
  std::string text = fmt::format("{}, {} layers", lower_case(sizes.architecture.substr(0, sizes.architecture.find("For"))), sizes.layers);
  if (sizes.experts > 0) text += fmt::format(", {} experts", sizes.experts);
  return text;
}

void print_tables(const std::vector<ListedModel>& models, const Environment& environment) {
  Table usable{.header = {"model", "architecture", "format", "weights", "parameters", "context here", "found in"}};
  std::string notes;
  std::string unusable;
  for (const ListedModel& model : models) {
    const std::string name = describe(model.location);
    if (!model.usable()) {
      unusable += fmt::format("  {}\n      {}\n", name, model.reason);
      continue;
    }
    usable.rows.push_back({name, architecture_of(*model.sizes), model.sizes->format, format_gib(model.sizes->weight_bytes),
                           short_count(static_cast<double>(model.sizes->parameters)), context_of(*model.sizes), model.location.found_in});
    if (!model.overridden.empty()) {
      notes += fmt::format("{}: config.json says {}; it is read as {}\n", name, model.overridden, model.location.model_type.value_or(""));
    }
    if (!model.chat_reason.empty()) notes += fmt::format("{}: {}\n", name, model.chat_reason);
  }
  if (!usable.rows.empty()) write_output(usable.format(TableForm::aligned));
  if (usable.rows.empty()) write_output("There is no model here that Lagoon can run.\n");
  if (!notes.empty()) write_output("\n" + notes);
  if (!unusable.empty()) {
    write_output("\nNot usable (Lagoon runs Laguna checkpoints, model_type `laguna`, in BF16, F16, F32 and MLX affine of 2 to 8 bits):\n" + unusable);
  }
  write_output(fmt::format("\nLooked in {}", printable_path(environment.places.hub_cache)));
  for (const std::filesystem::path& directory : environment.places.models_dirs) write_output(", " + printable_path(directory));
  write_output("\n");
}

int run(const Flags& flags, const Environment& environment) {
  leave_in_time();
  const std::vector<ListedModel> models = examine_all(environment);
  if (!flags.json) {
    print_tables(models, environment);
    return 0;
  }
  Json list = Json::array();
  for (const ListedModel& model : models) list.push_back(to_json(model));
  Json object;
  object["models"] = std::move(list);
  object["config_file"] = printable_path(environment.config_file);
  write_output(object.dump(2) + "\n");
  return 0;
}

}  // namespace

Command declare_models(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("models", "List the models on this machine and whether they can be run");
  auto flags = std::make_shared<Flags>();
  parser->add_flag("--json", flags->json, "a JSON object: {\"models\": [...]}");
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"lagoon models", "what is here, and whether it can be run"}, {"lagoon models --json", "the same as JSON"}}};
}

}  // namespace lagoon
