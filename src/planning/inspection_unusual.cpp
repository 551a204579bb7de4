// inspection_unusual.cpp: what a reader of a checkpoint should know that its name does not say. Everything here is read from headers,
// config.json and the texts beside them.
#include "base/byte_size.h"
#include "base/error.h"
#include "base/json.h"
#include "checkpoint/generation_config.h"
#include "planning/inspection.h"
#include "planning/published_models.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace lagoon {
namespace {

using Sentences = std::vector<std::string>;

std::string count(double number) { return format_count(static_cast<uint64_t>(std::llround(number))); }
std::string count(int64_t number) { return format_count(static_cast<uint64_t>(number)); }

/// The object of config.json that counts.
const Json& effective(const Json& document) {
  const auto envelope = document.find("text_config");
  return envelope != document.end() && envelope->is_object() ? *envelope : document;
}

bool states(const Checkpoint& checkpoint, const char* key) {
  for (const Json* object : {&effective(checkpoint.document()), &checkpoint.document()}) {
    const auto at = object->find(key);
    if (at != object->end() && !at->is_null()) return true;
  }
  return false;
}

/// "layer 3", "layers 1, 2, 5, ... (39 of them)".
std::string listed(const std::vector<int>& layers) {
  constexpr size_t most = 6;
  if (layers.size() == 1) return fmt::format("layer {}", layers.front());
  const auto end = layers.begin() + static_cast<std::ptrdiff_t>(std::min(most, layers.size()));
  return fmt::format("layers {}{}", fmt::join(layers.begin(), end, ", "),
                     layers.size() > most ? fmt::format(", ... ({} of them)", layers.size()) : "");
}

void look_at_origin(const Checkpoint& checkpoint, Sentences& found) {
  const ModelLocation& location = checkpoint.location();
  if (!checkpoint.overridden().empty()) {
    found.push_back(fmt::format("config.json says {}; it is read as `{}`, as the alias `{}` says", checkpoint.overridden(),
                                location.model_type.value_or(""), printable(location.alias)));
  }
  if (checkpoint.document().contains("text_config")) found.emplace_back("config.json is an envelope: what counts stands in its `text_config`");
  const std::vector<PublishedModel> published = published_models();
  if (find_published_model(published, checkpoint.config()) == nullptr) found.emplace_back("no published Laguna has this shape");
}

void look_at_defaults(const Checkpoint& checkpoint, Sentences& found) {
  constexpr std::array keys = {"vocab_size",
                               "hidden_size",
                               "intermediate_size",
                               "num_hidden_layers",
                               "num_attention_heads",
                               "num_key_value_heads",
                               "head_dim",
                               "num_experts",
                               "moe_intermediate_size",
                               "shared_expert_intermediate_size",
                               "max_position_embeddings"};
  std::vector<std::string> missing;
  for (const char* key : keys) {
    if (!states(checkpoint, key)) missing.push_back(fmt::format("`{}`", key));
  }
  if (!missing.empty()) found.push_back(fmt::format("config.json leaves out {}; the class defaults of LagunaConfig count", fmt::join(missing, ", ")));
  found.insert(found.end(), checkpoint.assumptions().begin(), checkpoint.assumptions().end());
  const ModelConfig& config = checkpoint.config();
  const bool open_gate = std::any_of(config.layers.begin(), config.layers.end(), [](const LayerConfig& layer) { return !layer.stated_gate; });
  if (open_gate) {
    found.push_back(fmt::format("config.json does not say which gate attention has; the rows of g_proj say {}",
                                config.layers.front().gate == GateKind::per_head ? "one per head" : "one per element"));
  }
  if (config.router_softcap > 0.0f)
    found.push_back(fmt::format("router logits are capped at {} (no published Laguna does that)", config.router_softcap));
  const int width = config.layers.front().query_heads * config.head_dim;
  if (width != config.hidden) {
    found.push_back(fmt::format("query heads x head_dim is {} x {} = {} in layer 0, hidden_size is {}: head_dim is a number of its own",
                                config.layers.front().query_heads, config.head_dim, count(int64_t{width}), count(int64_t{config.hidden})));
  }
}

void look_at_context(const Checkpoint& checkpoint, Sentences& found) {
  const ModelConfig& config = checkpoint.config();
  const RotaryConfig& rope = config.full_rotary;
  if (!rope.yarn) {
    found.emplace_back("full attention has the plain rope; every published Laguna has YaRN there");
    return;
  }
  const double reach = rope.factor * rope.original_context;
  const std::string yarn = fmt::format("YaRN factor {} over {} original tokens", rope.factor, count(rope.original_context));
  const auto most = static_cast<double>(config.max_context);
  if (reach != most) {
    found.push_back(fmt::format("{} reaches {} positions, max_position_embeddings is {}", yarn, count(reach), count(config.max_context)));
  }
  // One model is published with both; weights are the same, angles are not.
  const bool is_s21 = config.hidden == 3072 && config.layer_count() == 48;
  if (is_s21 && rope.factor == 32.0) found.push_back(fmt::format("this is the 256K variant of S-2.1 ({}); the 1M variant has factor 128", yarn));
  if (is_s21 && rope.factor == 128.0) found.push_back(fmt::format("this is the 1M variant of S-2.1 ({}); the 256K variant has factor 32", yarn));
  const double formula = 0.1 * std::log(rope.factor) + 1.0;
  if (std::abs(rope.attention_factor - formula) > 1e-9) {
    found.push_back(
        fmt::format("attention_factor is {}, 0.1 ln({}) + 1 would be {:.6g}; config.json counts", rope.attention_factor, rope.factor, formula));
  }
}

void look_at_experts(const Checkpoint& checkpoint, const Inspection& seen, Sentences& found) {
  std::vector<int> without_bias;
  std::vector<int> narrow_bias;
  std::vector<int> quantized_router;
  std::string bias_format;
  for (int layer = 0; layer < checkpoint.config().layer_count(); ++layer) {
    if (checkpoint.config().layers[static_cast<size_t>(layer)].dense) continue;
    const LayerSource& source = checkpoint.layer(layer);
    if (!source.expert_bias) without_bias.push_back(layer);
    if (source.expert_bias && source.expert_bias->format.element != ElementType::f32) {
      narrow_bias.push_back(layer);
      bias_format = name_of(source.expert_bias->format);
    }
    if (source.router.format.kind == WeightFormat::Kind::affine) quantized_router.push_back(layer);
  }
  if (!without_bias.empty())
    found.push_back(fmt::format("the experts' bias (e_score_correction_bias) is missing in {}; it counts as zero", listed(without_bias)));
  if (!narrow_bias.empty())
    found.push_back(fmt::format("the experts' bias is stored as {} in {}; it is usually f32", bias_format, listed(narrow_bias)));
  if (!quantized_router.empty()) {
    found.push_back(fmt::format("the router is quantized ({}) in {}; small changes of its logits choose other experts",
                                name_of(checkpoint.layer(quantized_router.front()).router.format), listed(quantized_router)));
  }
  if (seen.expert_storage.find("; in other layers") != std::string::npos)
    found.push_back("experts are stored in different ways: " + seen.expert_storage);
}

void look_at_formats(const Checkpoint& checkpoint, Sentences& found) {
  std::set<int> groups;
  std::set<std::string> scales;
  bool prefixed = false;
  for_each_weight(checkpoint, [&](const WeightSource& weight, ModelPart, int) {
    prefixed = prefixed || weight.name.starts_with("language_model.");
    if (weight.format.kind != WeightFormat::Kind::affine) return;
    groups.insert(weight.format.group);
    if (weight.format.element != ElementType::bf16) scales.insert(weight.format.element == ElementType::f32 ? "f32" : "f16");
  });
  if (groups.size() > 1) found.push_back(fmt::format("group sizes are mixed: {}", fmt::join(groups, ", ")));
  if (!scales.empty())
    found.push_back(fmt::format("scales and biases of quantized matrices are {}, usually they are bf16", fmt::join(scales, " and ")));
  if (prefixed) found.emplace_back("names begin with `language_model.`, as mlx-vlm and oQ write them");
  const std::vector<std::string>& unused = checkpoint.unused_tensors();
  if (!unused.empty()) {
    found.push_back(fmt::format("{} {} beside the weights {} not used, such as `{}`", count(static_cast<int64_t>(unused.size())),
                                unused.size() == 1 ? "tensor" : "tensors", unused.size() == 1 ? "is" : "are", printable(unused.front())));
  }
}

void look_at_end_ids(const Checkpoint& checkpoint, const ModelTexts& texts, Sentences& found) {
  const std::set<int32_t> stated(checkpoint.config().eos_ids.begin(), checkpoint.config().eos_ids.end());
  if (stated.empty()) found.emplace_back("config.json names no eos_token_id");
  if (!texts.generation_config) return;
  try {
    const GenerationConfig advice = read_generation_config(parse_json(*texts.generation_config, "generation_config.json"), "generation_config.json");
    const std::set<int32_t> advised(advice.eos_ids.begin(), advice.eos_ids.end());
    if (advised.empty() || advised == stated) return;
    found.push_back(fmt::format("eos_token_id is {} in generation_config.json and {} in config.json", fmt::join(advised, ", "),
                                stated.empty() ? "absent" : fmt::format("{}", fmt::join(stated, ", "))));
  } catch (const Error& error) {
    found.emplace_back(error.what());
  }
}

void look_at_tokenizer(const Checkpoint& checkpoint, const Inspection& seen, Sentences& found) {
  if (!seen.tokenizer) {
    found.emplace_back("tokenizer.json is missing; text cannot become tokens");
    return;
  }
  if (!seen.tokenizer->problem.empty()) found.push_back(seen.tokenizer->problem);
  if (!seen.tokenizer->vocabulary || *seen.tokenizer->vocabulary == checkpoint.config().vocabulary) return;
  found.push_back(
      fmt::format("tokenizer.json has {} ids, vocab_size is {}", count(*seen.tokenizer->vocabulary), count(int64_t{checkpoint.config().vocabulary})));
}

void look_at_template(const ModelTexts& texts, const Inspection& seen, Sentences& found) {
  if (!seen.chat_template) {
    found.emplace_back("there is no chat template; only `--raw` text can be completed");
    return;
  }
  const TemplateGeneration& generation = seen.chat_template->generation;
  if (generation.layout == TemplateLayout::stub) {
    found.push_back(fmt::format("{} holds a stub that includes `chat_template.jinja`{}", seen.chat_template->file,
                                texts.chat_template ? ", which includes itself" : ", and there is no such file"));
  } else if (generation.layout == TemplateLayout::other) {
    found.push_back("the chat template is " + describe(generation));
  }
  const auto inlined = texts.tokenizer_config ? inlined_template(*texts.tokenizer_config) : std::nullopt;
  if (!texts.chat_template || !inlined) return;
  if (is_template_stub(*inlined)) {
    found.emplace_back("tokenizer_config.json holds a stub that includes `chat_template.jinja`, which counts");
  } else if (*inlined != *texts.chat_template) {
    found.emplace_back("tokenizer_config.json holds another chat template than chat_template.jinja, which counts");
  }
}

}  // namespace

std::vector<std::string> unusual_things(const Checkpoint& checkpoint, const ModelTexts& texts, const Inspection& seen) {
  Sentences found;
  look_at_origin(checkpoint, found);
  look_at_defaults(checkpoint, found);
  look_at_context(checkpoint, found);
  look_at_experts(checkpoint, seen, found);
  look_at_formats(checkpoint, found);
  if (!texts.known) return found;
  look_at_end_ids(checkpoint, texts, found);
  look_at_tokenizer(checkpoint, seen, found);
  look_at_template(texts, seen, found);
  found.insert(found.end(), texts.problems.begin(), texts.problems.end());
  return found;
}

}  // namespace lagoon
