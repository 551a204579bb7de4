// facts_config.cpp: shape, feed-forward, experts and norm, as config.json says them.
#include "base/byte_size.h"
#include "planning/facts_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace lagoon {
namespace {

FactSource code(std::string place) { return {"model code", std::move(place), ""}; }

std::string counted(int64_t value) { return format_count(static_cast<uint64_t>(value)); }

FactSource quotient(std::string_view place, int64_t numerator, int64_t denominator) {
  return {"calc", std::string(place), fmt::format("{} / {}", counted(numerator), counted(denominator))};
}

/// A key that is true or false, in the meaning that Lagoon's reader gives its absence.
bool flag(const ConfigPlaces& places, std::string_view key, bool otherwise) {
  const auto found = places.find(key);
  return found && found->value->is_boolean() ? found->value->get<bool>() : otherwise;
}

void add_shape(FactSheet& sheet, const ModelConfig& config, const ConfigPlaces& places) {
  const int layers = config.layer_count();
  sheet.set("shape.layers", layers, places.source("num_hidden_layers"));
  sheet.set("shape.d_model", config.hidden, places.source("hidden_size"));
  sheet.set("shape.vocab", config.vocabulary, places.source("vocab_size"));
  sheet.set("shape.tied_embeddings", flag(places, "tie_word_embeddings", false), places.source("tie_word_embeddings"));
  sheet.set("shape.aspect", ratio(config.hidden, layers), quotient("shape.d_model / shape.layers", config.hidden, layers));
}

void add_feed_forward(FactSheet& sheet, const ModelConfig& config, const ConfigPlaces& places) {
  const bool said = places.find("hidden_act").has_value();
  sheet.set("ffn.activation", "SwiGLU", said ? places.source("hidden_act") : code("silu(gate) x up"), said ? "" : "config.json has no hidden_act");
  sheet.set("ffn.bias", false, code("gate_proj, up_proj and down_proj have no bias"));
  const bool dense = std::any_of(config.layers.begin(), config.layers.end(), [](const LayerConfig& layer) { return layer.dense; });
  if (!dense) {
    sheet.set("ffn.dim", nullptr, places.source("intermediate_size"), "no dense layers");
    sheet.set("ffn.ratio", nullptr, {"calc", "ffn.dim / shape.d_model", ""}, "no dense layers");
    return;
  }
  sheet.set("ffn.dim", config.dense_width, places.source("intermediate_size"));
  sheet.set("ffn.ratio", ratio(config.dense_width, config.hidden), quotient("ffn.dim / shape.d_model", config.dense_width, config.hidden));
}

/// Whether mlp_only_layers lists exactly the dense layers. Where mlp_layer_types decides, nobody has checked what it holds.
bool lists_dense_layers(const Json& only, const ModelConfig& config) {
  if (!only.is_array()) return false;
  std::vector<bool> listed(config.layers.size(), false);
  for (const Json& layer : only) {
    if (!layer.is_number_integer() || layer < 0 || layer >= config.layer_count()) return false;
    listed[layer.get<size_t>()] = true;
  }
  return std::equal(config.layers.begin(), config.layers.end(), listed.begin(),
                    [](const LayerConfig& layer, bool is_listed) { return layer.dense == is_listed; });
}

/// The key that says which layers are dense. Where both lists stand there and agree, mlp_only_layers is the shorter one to look at.
FactSource dense_source(const ModelConfig& config, const ConfigPlaces& places) {
  const auto only = places.find("mlp_only_layers");
  const bool listed = only && lists_dense_layers(*only->value, config);
  return places.source(places.find("mlp_layer_types") && !listed ? "mlp_layer_types" : "mlp_only_layers");
}

void add_dense_layers(FactSheet& sheet, const ModelConfig& config, const ConfigPlaces& places) {
  const auto sparse = std::find_if(config.layers.begin(), config.layers.end(), [](const LayerConfig& layer) { return !layer.dense; });
  const auto leading = sparse - config.layers.begin();
  const auto all = std::count_if(config.layers.begin(), config.layers.end(), [](const LayerConfig& layer) { return layer.dense; });
  FactSource source = dense_source(config, places);
  std::string note = source.place.ends_with("mlp_only_layers")   ? "length"
                     : source.place.ends_with("mlp_layer_types") ? "count dense at the front"
                                                                 : "";
  if (all != leading) note = fmt::format("{} dense layers in all, which do not stand at the front alone", all);
  sheet.set("moe.dense_layers", leading, std::move(source), std::move(note));
}

void add_experts(FactSheet& sheet, const ModelConfig& config, const ConfigPlaces& places) {
  sheet.set("moe.experts", config.experts, places.source("num_experts"));
  sheet.set("moe.experts_per_token", config.experts_per_token, places.source("num_experts_per_tok"));
  sheet.set("moe.expert_dim", config.expert_width, places.source("moe_intermediate_size"));
  const bool said = places.find("moe_router_score_func").has_value();
  sheet.set("moe.router_score", "sigmoid", said ? places.source("moe_router_score_func") : code("router: sigmoid of the logits"));
  sheet.set("moe.routed_scaling_factor", plain_number(places.number("moe_routed_scaling_factor", 1.0)), places.source("moe_routed_scaling_factor"));
  sheet.set("moe.renormalize", flag(places, "norm_topk_prob", true), places.source("norm_topk_prob"));
  sheet.set("moe.expert_ratio", ratio(config.expert_width, config.hidden),
            quotient("moe.expert_dim / shape.d_model", config.expert_width, config.hidden));
  sheet.set("moe.sparsity", ratio(config.experts, config.experts_per_token),
            quotient("moe.experts / moe.experts_per_token", config.experts, config.experts_per_token));
}

void add_no_experts(FactSheet& sheet, const FactSource& source) {
  for (const std::string_view key : {"moe.experts", "moe.experts_per_token", "moe.expert_dim", "moe.router_score", "moe.routed_scaling_factor",
                                     "moe.renormalize", "moe.expert_ratio", "moe.sparsity"}) {
    sheet.set(key, nullptr, source, "no layers with experts");
  }
}

}  // namespace

void add_config_facts(FactSheet& sheet, const Checkpoint& checkpoint, const ConfigPlaces& places) {
  const ModelConfig& config = checkpoint.config();
  add_shape(sheet, config, places);
  add_feed_forward(sheet, config, places);
  add_dense_layers(sheet, config, places);
  const bool sparse = std::any_of(config.layers.begin(), config.layers.end(), [](const LayerConfig& layer) { return !layer.dense; });
  if (sparse) {
    add_experts(sheet, config, places);
  } else {
    add_no_experts(sheet, dense_source(config, places));
  }
  sheet.set("norm.type", "RMSNorm", code("all norms"));
  sheet.set("norm.placement", "pre", code("input_layernorm, post_attention_layernorm"));
  sheet.set("norm.epsilon", places.number("rms_norm_eps", 1e-6), places.source("rms_norm_eps"));
}

}  // namespace lagoon
