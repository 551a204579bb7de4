// inspect: what a checkpoint is, told from its headers.
#include "planning/inspection.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "benchmark/table.h"
#include "checkpoint/synthetic.h"
#include "commands/command.h"
#include "commands/model_choice.h"
#include "commands/model_options.h"
#include "commands/output.h"
#include "machine/file.h"
#include "planning/kv_cost.h"
#include "planning/published_models.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace lagoon {
namespace {

struct Flags {
  std::string model;
  bool tensors = false;
  bool json = false;
};

/// The files that a synthetic checkpoint would have.
ModelTexts texts_of(const SyntheticCheckpoint& synthetic) {
  ModelTexts texts;
  for (const TextFile& file : synthetic.texts()) {
    if (file.name == "chat_template.jinja") texts.chat_template = file.text;
    if (file.name == "tokenizer_config.json") texts.tokenizer_config = file.text;
    if (file.name == "tokenizer.json") texts.tokenizer = file.text;
    if (file.name == "generation_config.json") texts.generation_config = file.text;
  }
  return texts;
}

ModelTexts texts_of(const ChosenModel& model) {
  if (model.kind == "checkpoint") return read_model_texts(model.checkpoint.folder(), SystemFiles());
  if (model.kind == "synthetic") return texts_of(SyntheticCheckpoint(parse_synthetic_spec(model.name)));
  return {.known = false};
}

/// A model of a disk by its own name, others as they were chosen.
std::string name_of(const ChosenModel& model) { return printable(model.kind == "checkpoint" ? model.checkpoint.location().name : model.name, 4096); }

std::string count(int64_t number) { return format_count(static_cast<uint64_t>(number)); }

int64_t dense_layers_of(const ModelConfig& config) {
  return std::count_if(config.layers.begin(), config.layers.end(), [](const LayerConfig& layer) { return layer.dense; });
}

/// The published model of this shape; empty if there is none.
std::string shape_name(const ModelConfig& config) {
  const std::vector<PublishedModel> published = published_models();
  const PublishedModel* found = find_published_model(published, config);
  return found == nullptr ? "" : found->name;
}

Json rope_to_json(const RotaryConfig& rope) {
  Json object = {{"type", rope.yarn ? "yarn" : "default"}, {"theta", rope.theta}, {"dimensions", rope.dimensions}};
  if (!rope.yarn) return object;
  object["factor"] = rope.factor;
  object["original_context"] = rope.original_context;
  object["beta_fast"] = rope.beta_fast;
  object["beta_slow"] = rope.beta_slow;
  object["attention_factor"] = rope.attention_factor;
  return object;
}

Json architecture_to_json(const Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config();
  const std::string shape = shape_name(config);
  return {{"class", "LagunaForCausalLM"},
          {"model_type", "laguna"},
          {"shape", shape.empty() ? Json() : Json(shape)},
          {"layers", config.layer_count()},
          {"full_layers", count_layers(config, AttentionKind::full)},
          {"sliding_layers", count_layers(config, AttentionKind::sliding)},
          {"sliding_window", config.sliding_window},
          {"dense_layers", dense_layers_of(config)},
          {"hidden", config.hidden},
          {"vocabulary", config.vocabulary},
          {"head_dim", config.head_dim},
          {"kv_heads", config.kv_heads},
          {"dense_width", config.dense_width},
          {"experts", config.experts},
          {"experts_per_token", config.experts_per_token},
          {"expert_width", config.expert_width},
          {"shared_expert_width", config.shared_width},
          {"routed_scale", config.routed_scale},
          {"max_context", config.max_context},
          {"full_rope", rope_to_json(config.full_rotary)},
          {"sliding_rope", rope_to_json(config.sliding_rotary)},
          {"eos_ids", config.eos_ids}};
}

Json parameters_to_json(const PartCounts& counts) {
  Json object = {{"total", counts.total}, {"active", counts.active}, {"active_without_embedding", counts.active_without_embedding}};
  for (const ModelPart part : all_model_parts) object[std::string(name_of(part))] = counts.of(part);
  return object;
}

Json layers_to_json(const std::vector<LayerReport>& layers) {
  Json list = Json::array();
  const auto format = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  for (const LayerReport& layer : layers) {
    list.push_back({{"layer", layer.layer},
                    {"attention", layer.attention},
                    {"query_heads", layer.query_heads},
                    {"kv_heads", layer.kv_heads},
                    {"gate", layer.gate},
                    {"mlp", layer.mlp},
                    {"attention_format", format(layer.attention_format)},
                    {"mlp_format", format(layer.mlp_format)},
                    {"expert_format", format(layer.expert_format)},
                    {"router_format", format(layer.router_format)},
                    {"parameters", layer.parameters},
                    {"bytes", layer.bytes}});
  }
  return list;
}

Json template_to_json(const Inspection& inspection) {
  if (!inspection.chat_template) return {};
  const TemplateReport& report = *inspection.chat_template;
  const TemplateGeneration& generation = report.generation;
  Json object = {{"file", report.file}, {"sha256", report.sha256}, {"known", report.known.empty() ? Json() : Json(report.known)}};
  object["generation"] = generation.generation;
  object["description"] = describe(generation);
  object["thinks_by_default"] = generation.thinks_by_default ? Json(*generation.thinks_by_default) : Json();
  object["preserves_thinking"] = generation.preserves_thinking;
  object["default_system_message"] = generation.default_system_message;
  return object;
}

Json tokenizer_to_json(const Inspection& inspection) {
  if (!inspection.tokenizer) return {};
  const TokenizerReport& report = *inspection.tokenizer;
  return {{"file", "tokenizer.json"},
          {"sha256", report.sha256},
          {"known", report.known.empty() ? Json() : Json(report.known)},
          {"vocabulary", report.vocabulary ? Json(*report.vocabulary) : Json()}};
}

std::string file_of(const Checkpoint& checkpoint, const WeightSource& weight) {
  return printable_path(checkpoint.files()[static_cast<size_t>(weight.values.file)]->path().filename());
}

std::vector<int64_t> shape_of(const WeightSource& weight) {
  return weight.rows == 1 ? std::vector<int64_t>{weight.columns} : std::vector<int64_t>{weight.rows, weight.columns};
}

Json tensors_to_json(const Checkpoint& checkpoint) {
  Json list = Json::array();
  for_each_weight(checkpoint, [&](const WeightSource& weight, ModelPart part, int layer) {
    list.push_back({{"name", printable(weight.name, 4096)},
                    {"part", std::string(name_of(part))},
                    {"layer", layer < 0 ? Json() : Json(layer)},
                    {"shape", shape_of(weight)},
                    {"format", name_of(weight.format)},
                    {"bytes", weight.bytes()},
                    {"file", file_of(checkpoint, weight)}});
  });
  return list;
}

Json texts_to_json(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(printable(text, 4096));
  return list;
}

void print_json(const ChosenModel& model, const Inspection& inspection, bool tensors) {
  const ModelLocation& location = model.checkpoint.location();
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(printable(value, 4096)); };
  Json object;
  object["name"] = name_of(model);
  object["alias"] = text(location.alias);
  object["found_in"] = location.found_in.empty() ? Json(model.kind) : Json(location.found_in);
  object["folder"] = location.found_in.empty() ? Json() : text(location.folder.string());
  object["revision"] = text(location.revision);
  object["model_type_override"] = text(location.model_type.value_or(""));
  object["overridden"] = text(model.checkpoint.overridden());
  object["architecture"] = architecture_to_json(model.checkpoint);
  object["format"] = format_summary(model.checkpoint);
  object["weight_bytes"] = model.checkpoint.weight_bytes();
  object["parameters"] = parameters_to_json(inspection.counts);
  Json formats = Json::array();
  for (const FormatShare& share : inspection.formats) {
    formats.push_back({{"format", share.format},
                       {"matrices", share.matrices},
                       {"vectors", share.vectors},
                       {"parameters", share.parameters},
                       {"bytes", share.bytes}});
  }
  object["formats"] = std::move(formats);
  object["experts_stored"] = text(inspection.expert_storage);
  object["layers"] = layers_to_json(inspection.layers);
  object["template"] = template_to_json(inspection);
  object["tokenizer"] = tokenizer_to_json(inspection);
  object["unusual"] = texts_to_json(inspection.unusual);
  object["unused_tensors"] = texts_to_json(model.checkpoint.unused_tensors());
  if (tensors) object["tensors"] = tensors_to_json(model.checkpoint);
  write_output(object.dump(2) + "\n");
}

void line(std::string_view what, const std::string& text) { write_output(fmt::format("{:<14}{}\n", what, text)); }

void print_summary(const ChosenModel& model, const Inspection& inspection) {
  const Checkpoint& checkpoint = model.checkpoint;
  const ModelConfig& config = checkpoint.config();
  const ModelLocation& location = checkpoint.location();
  line("model", name_of(model) + (location.revision.empty() ? "" : "@" + printable(location.revision)) +
                    (location.alias.empty() ? "" : ", by the alias " + printable(location.alias)));
  if (location.found_in.empty()) line("kind", model.kind + ", of headers alone");
  if (!location.found_in.empty()) line("folder", fmt::format("{} ({})", printable_path(location.folder), location.found_in));
  const std::string shape = shape_name(config);
  line("architecture", fmt::format("LagunaForCausalLM (model_type laguna{}){}",
                                   checkpoint.overridden().empty() ? "" : ", overridden; config.json says " + checkpoint.overridden(),
                                   shape.empty() ? "" : ", shape of " + shape));
  line("layers", fmt::format("{}: {} full, {} sliding (window {}); {} dense, {} sparse", config.layer_count(),
                             count_layers(config, AttentionKind::full), count_layers(config, AttentionKind::sliding), config.sliding_window,
                             dense_layers_of(config), config.layer_count() - dense_layers_of(config)));
  line("widths", fmt::format("hidden {}, vocabulary {}, head_dim {}, dense {}, experts {} x {} ({} a token), shared expert {}", count(config.hidden),
                             count(config.vocabulary), config.head_dim, count(config.dense_width), config.experts, count(config.expert_width),
                             config.experts_per_token, count(config.shared_width)));
  line("context", count(config.max_context) + " tokens");
  line("weights",
       fmt::format("{} ({}), {}", format_bytes(checkpoint.weight_bytes()), format_gib(checkpoint.weight_bytes()), format_summary(checkpoint)));
  if (!inspection.expert_storage.empty()) line("experts", "stored " + inspection.expert_storage);
  if (inspection.chat_template) {
    const TemplateReport& report = *inspection.chat_template;
    line("template", describe(report.generation));
    line("", fmt::format("sha256 {} of {} ({})", report.sha256, report.file, report.known.empty() ? "not a published one" : report.known));
  } else {
    line("template", model.kind == "checkpoint" ? "none" : "not known");
  }
  if (inspection.tokenizer) {
    const TokenizerReport& report = *inspection.tokenizer;
    line("tokenizer", report.vocabulary ? count(*report.vocabulary) + " ids" : "cannot be used");
    line("", fmt::format("sha256 {} ({})", report.sha256, report.known.empty() ? "not a published one" : report.known));
  } else {
    line("tokenizer", model.kind == "checkpoint" ? "none" : "not known");
  }
}

void print_tables(const Inspection& inspection) {
  Table parameters{.header = {"part", "parameters"}};
  for (const ModelPart part : all_model_parts) parameters.rows.push_back({std::string(name_of(part)), format_count(inspection.counts.of(part))});
  parameters.rows.push_back({"total", format_count(inspection.counts.total)});
  parameters.rows.push_back({"active per token", format_count(inspection.counts.active)});
  parameters.rows.push_back({"active without embedding and head", format_count(inspection.counts.active_without_embedding)});
  Table formats{.header = {"format", "matrices", "vectors", "parameters", "bytes"}};
  for (const FormatShare& share : inspection.formats) {
    formats.rows.push_back(
        {share.format, format_count(share.matrices), format_count(share.vectors), format_count(share.parameters), format_count(share.bytes)});
  }
  Table layers{
      .header = {"layer", "attention", "query heads", "KV heads", "gate", "MLP", "attention in", "MLP in", "experts in", "router in", "bytes"}};
  const auto format = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
  for (const LayerReport& layer : inspection.layers) {
    layers.rows.push_back({std::to_string(layer.layer), layer.attention, std::to_string(layer.query_heads), std::to_string(layer.kv_heads),
                           layer.gate, layer.mlp, format(layer.attention_format), format(layer.mlp_format), format(layer.expert_format),
                           format(layer.router_format), format_count(layer.bytes)});
  }
  for (const Table* table : {&parameters, &formats, &layers}) write_output("\n" + table->format(TableForm::aligned));
}

void print_tensors(const Checkpoint& checkpoint) {
  write_output("\n");
  for_each_weight(checkpoint, [&](const WeightSource& weight, ModelPart, int) {
    write_output(fmt::format("{}  [{}]  {}  {}  {}\n", printable(weight.name, 4096), fmt::join(shape_of(weight), " x "), name_of(weight.format),
                             format_bytes(weight.bytes()), file_of(checkpoint, weight)));
  });
}

int run(const Flags& flags, const Environment& environment) {
  const ChosenModel model = choose_model(flags.model, environment);
  const Inspection inspection = inspect(model.checkpoint, texts_of(model));
  if (flags.json) {
    print_json(model, inspection, flags.tensors);
    return 0;
  }
  print_summary(model, inspection);
  print_tables(inspection);
  if (!inspection.unusual.empty()) write_output("\nWorth knowing:\n");
  for (const std::string& sentence : inspection.unusual) write_output("  " + printable(sentence, 4096) + "\n");
  if (flags.tensors) print_tensors(model.checkpoint);
  return 0;
}

}  // namespace

Command declare_inspect(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("inspect", "Say what a checkpoint is: parameters, formats, layers, template, what is unusual");
  auto flags = std::make_shared<Flags>();
  parser
      ->add_option("MODEL", flags->model,
                   std::string(model_help) + "; or a known quantization that is not here; or a synthetic checkpoint, " + synthetic_spec_help())
      ->required();
  parser->add_flag("--tensors", flags->tensors, "every matrix with shape, format, bytes and file");
  parser->add_flag("--json", flags->json, "all of it as one JSON object");
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"lagoon inspect nano", "what the checkpoint holds"}, {"lagoon inspect nano --tensors --json", "every matrix, as JSON"}}};
}

}  // namespace lagoon
