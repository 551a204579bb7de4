// facts_attention.cpp: heads, layout and gate.
#include "base/byte_size.h"
#include "planning/facts_layout.h"
#include "planning/facts_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lagoon {
namespace {

/// The first layer of a kind and how many there are; `first` is the number of layers where there are none.
struct LayersOfKind {
  size_t first = 0;
  int64_t count = 0;
  int least_heads = 0;
  int most_heads = 0;
};

LayersOfKind layers_of(const ModelConfig& config, AttentionKind kind) {
  LayersOfKind found{.first = config.layers.size()};
  for (size_t layer = 0; layer < config.layers.size(); ++layer) {
    if (config.layers[layer].attention != kind) continue;
    const int heads = config.layers[layer].query_heads;
    if (found.count++ == 0) found = {layer, 1, heads, heads};
    found.least_heads = std::min(found.least_heads, heads);
    found.most_heads = std::max(found.most_heads, heads);
  }
  return found;
}

/// Where the query heads of a layer are said: for all layers at once if that is true of this one, else in the list.
FactSource heads_source(const ModelConfig& config, const ConfigPlaces& places, size_t layer, bool prefer_list) {
  const auto list = places.find("num_attention_heads_per_layer");
  if (!list) return places.source("num_attention_heads");
  const int heads = config.layers[layer].query_heads;
  const bool for_all = places.find("num_attention_heads") && places.number("num_attention_heads", 0) == heads;
  if (for_all && !prefer_list) return places.source("num_attention_heads");
  return {"config", fmt::format("{}/{}", list->pointer, layer), std::to_string(heads)};
}

std::string heads_note(const LayersOfKind& kind, std::string_view name) {
  if (kind.least_heads == kind.most_heads) return {};
  return fmt::format("of the first; {} layers have {} to {}", name, kind.least_heads, kind.most_heads);
}

void add_global(FactSheet& sheet, const ModelConfig& config, const ConfigPlaces& places, const LayersOfKind& global) {
  if (global.count == 0) {
    for (const std::string_view key : {"attn.heads", "attn.kv_heads", "attn.width", "attn.heads_per_kv_head", "attn.qk_head_dim", "attn.v_head_dim"})
      sheet.set(key, nullptr, places.source("layer_types"), "no global layers");
    return;
  }
  const int heads = config.layers[global.first].query_heads;
  const std::string note = heads_note(global, "global");
  sheet.set("attn.heads", heads, heads_source(config, places, global.first, false), note);
  sheet.set("attn.kv_heads", config.kv_heads, places.source("num_key_value_heads"));
  sheet.set("attn.width", int64_t{heads} * config.head_dim, {"calc", "attn.heads x attn.qk_head_dim", fmt::format("{} x {}", heads, config.head_dim)},
            note);
  sheet.set("attn.heads_per_kv_head", ratio(heads, config.kv_heads),
            {"calc", "attn.heads / attn.kv_heads", fmt::format("{} / {}", heads, config.kv_heads)}, note);
  sheet.set("attn.qk_head_dim", config.head_dim, places.source("head_dim"));
  sheet.set("attn.v_head_dim", config.head_dim, places.source("head_dim"), "queries, keys and values have one head dim in the model code");
}

void add_sliding(FactSheet& sheet, const ModelConfig& config, const ConfigPlaces& places, const LayersOfKind& sliding) {
  if (sliding.count == 0) {
    for (const std::string_view key : {"attn.window", "attn.local_kv_heads", "attn.local_heads", "attn.local_qk_head_dim"})
      sheet.set(key, nullptr, places.source("layer_types"), "no sliding layers");
    return;
  }
  const std::string same = "same for both layer types in the model code";
  sheet.set("attn.window", config.sliding_window, places.source("sliding_window"));
  sheet.set("attn.local_kv_heads", config.kv_heads, places.source("num_key_value_heads"), same);
  sheet.set("attn.local_heads", config.layers[sliding.first].query_heads, heads_source(config, places, sliding.first, true),
            heads_note(sliding, "sliding"));
  sheet.set("attn.local_qk_head_dim", config.head_dim, places.source("head_dim"), same);
}

void add_layout(FactSheet& sheet, const ModelConfig& config, const ConfigPlaces& places, int64_t global, int64_t sliding) {
  const FactSource types = places.source("layer_types");
  LayoutText layout = layout_of(config.layers);
  sheet.set("attn.layout", std::move(layout.text), types, std::move(layout.note));
  sheet.set("attn.global_layers", global, types, types.kind == "config" ? "count full_attention" : "");
  sheet.set("attn.local_layers", sliding, types, types.kind == "config" ? "count sliding_attention" : "");
  if (global == 0 || sliding == 0) {
    sheet.set("attn.local_per_global", nullptr, types, sliding == 0 ? "no sliding layers" : "no global layers");
    return;
  }
  sheet.set("attn.local_per_global", ratio(static_cast<double>(sliding), static_cast<double>(global)),
            {"calc", "attn.local_layers / attn.global_layers", fmt::format("{} / {}", sliding, global)});
}

void add_mixers(FactSheet& sheet, const ModelConfig& config, const ConfigPlaces& places, int64_t sliding) {
  const bool shared =
      std::any_of(config.layers.begin(), config.layers.end(), [&](const LayerConfig& layer) { return layer.query_heads > config.kv_heads; });
  std::string mixers = !shared ? "MHA" : config.kv_heads == 1 ? "MQA" : "GQA";
  if (sliding > 0) mixers += ", SWA";
  FactSource source = places.source("num_key_value_heads");
  if (sliding > 0) source.place += ", " + places.source("layer_types").place;
  sheet.set_confirmed("attn.mixers", std::move(mixers), std::move(source));
}

void add_gate(FactSheet& sheet, const Checkpoint& checkpoint) {
  const std::vector<LayerConfig>& layers = checkpoint.config().layers;
  const auto elements = std::count_if(layers.begin(), layers.end(), [](const LayerConfig& layer) { return layer.gate == GateKind::per_element; });
  const auto heads = static_cast<std::ptrdiff_t>(layers.size()) - elements;
  std::string gate = fmt::format("softplus, {}, before o_proj", elements == 0 ? "per head" : "per element");
  if (elements > 0 && heads > 0) gate = fmt::format("softplus, per head in {} layers and per element in {}, before o_proj", heads, elements);
  const auto rows = static_cast<uint64_t>(checkpoint.layer(0).gate.rows);
  sheet.set_confirmed("attn.output_gate", std::move(gate),
                      {"headers", "rows of g_proj", fmt::format("{} rows for {} query heads in layer 0", format_count(rows), layers[0].query_heads)});
}

}  // namespace

void add_attention_facts(FactSheet& sheet, const Checkpoint& checkpoint, const ConfigPlaces& places) {
  const ModelConfig& config = checkpoint.config();
  const LayersOfKind global = layers_of(config, AttentionKind::full);
  const LayersOfKind sliding = layers_of(config, AttentionKind::sliding);
  add_mixers(sheet, config, places, sliding.count);
  add_layout(sheet, config, places, global.count, sliding.count);
  add_global(sheet, config, places, global);
  add_sliding(sheet, config, places, sliding);
  sheet.set("attn.qk_norm", "yes, per head", {"model code", "q_norm and k_norm over head_dim, before rotation", ""});
  sheet.set("attn.qkv_bias", false, {"model code", "q_proj, k_proj and v_proj have no bias", ""});
  add_gate(sheet, checkpoint);
}

}  // namespace lagoon
