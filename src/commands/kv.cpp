// kv: what keys and values of one sequence take, over contexts and ways to store them.
#include "base/byte_size.h"
#include "benchmark/table.h"
#include "commands/command.h"
#include "commands/facts_options.h"
#include "commands/model_choice.h"
#include "commands/option_checks.h"
#include "planning/facts.h"
#include "planning/facts_sheet.h"
#include "planning/facts_text.h"
#include "planning/kv_cost.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace lagoon {
namespace {

struct Flags {
  std::string model;
  std::string contexts;
  std::string format = "table";
};

struct Row {
  KvStorage storage;
  KvCost cost;
};

std::vector<Row> rows_of(const ModelConfig& config, const std::vector<uint64_t>& contexts) {
  std::vector<Row> rows;
  for (const uint64_t context : contexts) {
    for (const KvStorage storage : kv_storages) rows.push_back({storage, kv_cost(config, {context, storage})});
  }
  return rows;
}

std::string table_of(const std::vector<Row>& rows, TableForm form) {
  Table table{{"context", "tokens", "storage", "bytes", "GiB", "bytes/token", "global bytes/token"}, {}};
  for (const Row& row : rows) {
    const std::string gib = format_gib(row.cost.bytes);
    table.rows.push_back({short_context(row.cost.context), format_count(row.cost.context), std::string(name_of(row.storage)),
                          format_count(row.cost.bytes), gib.substr(0, gib.find(' ')), exact_text(plain_number(row.cost.bytes_per_token())),
                          format_count(row.cost.global_token_bytes)});
  }
  return table.format(form);
}

Json document_of(const ChosenModel& model, const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    list.push_back({{"context", row.cost.context},
                    {"storage", std::string(name_of(row.storage))},
                    {"bytes", row.cost.bytes},
                    {"bytes_per_token", plain_number(row.cost.bytes_per_token())},
                    {"global_bytes_per_token", row.cost.global_token_bytes},
                    {"scale_bytes", row.cost.scale_bytes}});
  }
  return {{"model", {{"name", model.name}, {"kind", model.kind}, {"max_context", model.checkpoint.config().max_context}}}, {"rows", list}};
}

int run(const Flags& flags, const Environment& environment) {
  check_format(flags.format, {"table", "markdown", "json"});
  std::vector<uint64_t> contexts;
  if (!flags.contexts.empty()) contexts = parse_contexts(flags.contexts, "--contexts");
  const ChosenModel model = choose_model(flags.model, environment, ModelNeed::shape);
  const ModelConfig& config = model.checkpoint.config();
  if (contexts.empty()) contexts = usual_contexts(config);
  const std::vector<Row> rows = rows_of(config, contexts);
  if (flags.format == "json") {
    write_answer(document_of(model, rows).dump(2, ' ', false, Json::error_handler_t::replace) + "\n", "");
    return 0;
  }
  const bool markdown = flags.format == "markdown";
  std::string text =
      markdown ? "# KV cache of " + escape_markdown(model.name) + "\n\n" : "KV cache of one sequence of " + printable(model.name, 4096) + "\n\n";
  text += table_of(rows, markdown ? TableForm::markdown : TableForm::aligned) + "\n";
  for (const KvStorage storage : kv_storages) text += (markdown ? "- " : "") + describe(storage, config.head_dim) + "\n";
  const auto made_for = static_cast<uint64_t>(config.max_context);
  if (std::any_of(contexts.begin(), contexts.end(), [&](uint64_t context) { return context > made_for; })) {
    text += (markdown ? "- " : "") + std::string("The checkpoint is made for ") + format_count(made_for) + " tokens.\n";
  }
  write_answer(text, "");
  return 0;
}

}  // namespace

Command declare_kv(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("kv", "Show what keys and values take, over contexts and storage");
  auto flags = std::make_shared<Flags>();
  parser->add_option("MODEL", flags->model, "what `lagoon facts` takes")->required()->check(not_empty());
  parser->add_option("--contexts", flags->contexts, "tokens, with commas between: 4k,32k,1M (4k to 1M as far as the checkpoint goes)")
      ->check(not_empty())
      ->type_name("LIST");
  one_of(parser->add_option("--format", flags->format, "how the answer is written"), {"table", "markdown", "json"})->capture_default_str();
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"lagoon kv nano", "what keys and values take, from 4k tokens on"},
           {"lagoon kv nano --contexts 1k,4k --format json", "of two contexts, as JSON"}}};
}

}  // namespace lagoon
