// facts: everything that is known about a checkpoint, with where it comes from.
#include "planning/facts.h"

#include "base/error.h"
#include "commands/command.h"
#include "commands/facts_options.h"
#include "commands/model_choice.h"
#include "commands/option_checks.h"
#include "planning/facts_text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace lagoon {
namespace {

struct Flags {
  std::string model;
  std::string format = "table";
  std::string output;
  bool definitions = false;
  KvFlags kv;
};

std::string heading(const ChosenModel& model, const PublishedModel* published) {
  std::string text = model.name + (published == nullptr ? ": no published model has this shape"
                                                        : ": has the shape of " + published->name + " (" + published->repository + ")");
  if (!model.checkpoint.overridden().empty()) text += "; config.json itself says " + model.checkpoint.overridden();
  return text;
}

Json facts_document(const ChosenModel& model, const PublishedModel* published, std::span<const Fact> facts) {
  Json about = {{"name", model.name}, {"kind", model.kind}, {"published_as", nullptr}, {"repository", nullptr}};
  if (published != nullptr) {
    about["published_as"] = published->id;
    about["repository"] = published->repository;
  }
  about["location"] = location_json(model.checkpoint);
  return {{"model", about}, {"facts", to_json(facts)}};
}

int run(const Flags& flags, const Environment& environment) {
  check_format(flags.format, {"table", "markdown", "json"});
  const KvRequest kv = kv_request_of(flags.kv);
  const ChosenModel model = choose_model(flags.model, environment, ModelNeed::shape);
  const std::vector<PublishedModel> known = published_models();
  const PublishedModel* published = find_published_model(known, model.checkpoint.config());
  const std::vector<Fact> facts = facts_of(model.checkpoint, published, kv, model.headers_place);
  std::string text;
  if (flags.format == "json") {
    text = facts_document(model, published, facts).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  } else if (flags.format == "markdown") {
    text = "# " + escape_markdown(heading(model, published)) + "\n\n" + facts_markdown(facts, flags.definitions);
  } else {
    text = printable(heading(model, published), 4096) + "\n\n" + facts_table(facts, flags.definitions);
  }
  write_answer(text, flags.output);
  return 0;
}

}  // namespace

Command declare_facts(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("facts", "Show what is known about a checkpoint and where each fact comes from");
  auto flags = std::make_shared<Flags>();
  parser->add_option("MODEL", flags->model, "a checkpoint, a known artifact, an id of a published model such as laguna-s-2.1, or a SPEC of synth")
      ->required()
      ->check(not_empty());
  one_of(parser->add_option("--format", flags->format, "how the answer is written"), {"table", "markdown", "json"})->capture_default_str();
  of_one_run(parser->add_option("--output", flags->output, "write to this file instead of standard output"))->check(not_empty())->type_name("FILE");
  parser->add_flag("--definitions", flags->definitions, "also what each fact counts");
  add_kv_flags(*parser, flags->kv);
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"lagoon facts nano", "every fact with its source"},
           {"lagoon facts nano --context 4k --kv q8 --format markdown", "with the KV cache of 4,096 tokens in 8 bits, as Markdown"}}};
}

}  // namespace lagoon
