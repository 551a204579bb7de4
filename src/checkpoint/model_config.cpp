#include "checkpoint/model_config.h"

#include "base/error.h"
#include "checkpoint/config_assumptions.h"
#include "checkpoint/config_reader.h"
#include "checkpoint/rope_config.h"
#include "kernels/attention_block.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_set>

namespace lagoon {
namespace {

// Bounds that no published Laguna comes near; they keep products of two sizes far inside 64 bits.
constexpr int64_t most_layers = 1024;
constexpr int64_t most_width = 1 << 20;
constexpr int64_t most_heads = 1 << 14;
constexpr int64_t most_experts = 1 << 14;
constexpr int64_t most_experts_in_all = 1 << 16;  // of all layers together; M.1 has 17,152
constexpr int64_t most_vocabulary = 1 << 26;
constexpr int64_t most_context = int64_t{1} << 40;

/// The object that counts: text_config with the keys around it that it lacks, or the document itself.
Json effective_config(const Json& document, const std::string& what) {
  const ConfigReader outer(document, what);
  const auto inner = outer.child("text_config");
  if (!inner) return document;
  Json merged = inner->object();
  std::unordered_set<std::string_view> keys = {"text_config", "architectures"};  // belong to the wrapper
  for (const auto& [key, value] : inner->object().items()) keys.insert(key);
  auto& members = merged.get_ref<Json::object_t&>();  // to its end: looking each key up would take time quadratic in their number
  for (const auto& [key, value] : document.get_ref<const Json::object_t&>()) {
    if (!keys.contains(key)) members.emplace_back(key, value);
  }
  if (outer.boolean("tie_word_embeddings") == true) merged["tie_word_embeddings"] = true;
  return merged;
}

void check_architecture(const ConfigReader& config, const ConfigReader& outer) {
  std::vector<std::string> architectures = config.texts("architectures").value_or(std::vector<std::string>{});
  if (architectures.empty()) architectures = outer.texts("architectures").value_or(std::vector<std::string>{});
  const bool drafter = std::find(architectures.begin(), architectures.end(), "DFlashLagunaForCausalLM") != architectures.end();
  if (drafter || config.has("dflash_config")) {
    fail(ErrorKind::unsupported,
         "{} says DFlashLagunaForCausalLM: this is a draft model for speculative decoding, which cannot speak alone; give the Laguna model that it "
         "belongs to",
         config.about("architectures"));
  }
  const auto type = config.text("model_type");
  if (type && *type != "laguna") {
    fail(ErrorKind::unsupported, "{} is `{}`; Lagoon runs `laguna`", config.about("model_type"), printable(*type));
  }
  const bool wrapped = outer.has("text_config");
  const bool named = std::any_of(architectures.begin(), architectures.end(),
                                 [&](const std::string& name) { return name == "LagunaForCausalLM" || (wrapped && name.starts_with("Laguna")); });
  if (!architectures.empty() && !named) {
    fail(ErrorKind::unsupported, "{} is `{}`; Lagoon runs `LagunaForCausalLM`", config.about("architectures"), printable(architectures.front()));
  }
  if (!type && !named)
    fail(ErrorKind::unsupported, "{} is missing; Lagoon runs `laguna`, and this does not say what it is", config.about("model_type"));
}

void refuse_if(const ConfigReader& config, std::string_view key, bool refused, std::string_view reason) {
  if (config.boolean(key) == refused) fail(ErrorKind::unsupported, "{} is {}; {}", config.about(key), refused, reason);
}

void refuse_text_unless(const ConfigReader& config, std::string_view key, std::initializer_list<std::string_view> accepted, std::string_view reason) {
  const auto text = config.text(key);
  if (!text || std::find(accepted.begin(), accepted.end(), *text) != accepted.end()) return;
  fail(ErrorKind::unsupported, "{} is `{}`, Lagoon needs `{}`: {}", config.about(key), printable(*text), *accepted.begin(), reason);
}

void refuse_what_is_not_run(const ConfigReader& config) {
  refuse_if(config, "moe_router_use_sigmoid", false, "that means a softmax router, and Lagoon has the sigmoid router of the published models");
  refuse_if(config, "moe_apply_router_weight_on_input", true, "Lagoon weighs the outputs of experts, not their inputs");
  refuse_if(config, "swa_attention_sink_enabled", true, "Lagoon computes attention without sinks");
  refuse_if(config, "norm_topk_prob", false, "Lagoon divides the weights of the chosen experts by their sum");
  refuse_if(config, "attention_bias", true, "Laguna has no biases in attention");
  refuse_if(config, "qkv_bias", true, "Laguna has no biases in attention");
  refuse_if(config, "mlp_bias", true, "Laguna has no biases in its MLPs");
  refuse_if(config, "tie_word_embeddings", true,
            "Laguna has an output matrix of its own, lm_head, and Lagoon does not use the embedding in its place");
  refuse_text_unless(config, "moe_router_score_func", {"sigmoid"}, "the router's scores are sigmoids");
  refuse_text_unless(config, "hidden_act", {"silu", "swish"}, "this is not a Laguna checkpoint");
  refuse_text_unless(config, "rope_style", {"rotate-half", "rotate_half"}, "heads are rotated in halves");
  for (const std::string_view key : {"num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers"}) {
    const auto layers = config.integer(key, 0, most_layers);
    if (layers.value_or(0) == 0) continue;
    fail(ErrorKind::unsupported, "{} is {}; Lagoon does not run layers of multi-token prediction", config.about(key), *layers);
  }
  for (const std::string_view key : {"n_group", "topk_group"}) {
    const auto groups = config.integer(key, 0, most_experts);
    if (groups.value_or(1) > 1) fail(ErrorKind::unsupported, "{} is {}; Lagoon chooses among all experts at once", config.about(key), *groups);
  }
}

void check_length(const ConfigReader& config, std::string_view key, size_t length, size_t layers) {
  if (length == layers) return;
  fail(ErrorKind::corrupt, "{} has {} entries, `num_hidden_layers` is {}; the two must agree", config.about(key), length, layers);
}

void read_attention_kinds(const ConfigReader& config, std::vector<LayerConfig>& layers) {
  const auto kinds = config.texts("layer_types");
  if (!kinds) return;  // all full
  check_length(config, "layer_types", kinds->size(), layers.size());
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    const std::string& kind = (*kinds)[layer];
    if (kind != "full_attention" && kind != "sliding_attention") {
      fail(ErrorKind::unsupported, "{} has `{}` for layer {}; Lagoon runs `full_attention` and `sliding_attention`", config.about("layer_types"),
           printable(kind), layer);
    }
    layers[layer].attention = kind == "full_attention" ? AttentionKind::full : AttentionKind::sliding;
  }
}

void read_query_heads(const ConfigReader& config, int kv_heads, std::vector<LayerConfig>& layers) {
  const auto shared = config.integer("num_attention_heads", 1, most_heads).value_or(48);
  const auto own = config.integers("num_attention_heads_per_layer", 1, most_heads);
  if (own) check_length(config, "num_attention_heads_per_layer", own->size(), layers.size());
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    const int64_t heads = own ? (*own)[layer] : shared;
    if (heads % kv_heads != 0) {
      fail(ErrorKind::corrupt, "{} gives layer {} {} query heads, which {} key-value heads cannot share evenly",
           config.about(own ? "num_attention_heads_per_layer" : "num_attention_heads"), layer, heads, kv_heads);
    }
    layers[layer].query_heads = static_cast<int>(heads);
  }
}

/// Which layers are dense: mlp_layer_types says it outright; else mlp_only_layers (layer 0 unless given) and the step.
void read_mlp_kinds(const ConfigReader& config, std::vector<LayerConfig>& layers) {
  if (const auto kinds = config.texts("mlp_layer_types")) {
    check_length(config, "mlp_layer_types", kinds->size(), layers.size());
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      const std::string& kind = (*kinds)[layer];
      if (kind != "dense" && kind != "sparse") {
        fail(ErrorKind::unsupported, "{} has `{}` for layer {}; Lagoon runs `dense` and `sparse`", config.about("mlp_layer_types"), printable(kind),
             layer);
      }
      layers[layer].dense = kind == "dense";
    }
    return;
  }
  const auto count = static_cast<int64_t>(layers.size());
  const auto step = config.integer("decoder_sparse_step", 1, most_layers).value_or(1);
  const auto only = config.integers("mlp_only_layers", 0, count - 1).value_or(std::vector<int64_t>{0});
  for (int64_t layer = 0; layer < count; ++layer) {
    const bool listed = std::find(only.begin(), only.end(), layer) != only.end();
    layers[static_cast<size_t>(layer)].dense = listed || (layer + 1) % step != 0;
  }
}

std::optional<GateKind> gate_named(std::string name, const std::string& about) {
  std::replace(name.begin(), name.end(), '_', '-');
  if (name == "per-head") return GateKind::per_head;
  if (name == "per-element") return GateKind::per_element;
  fail(ErrorKind::unsupported, "{} is `{}`; Lagoon runs `per-head` and `per-element`, and true where the tensor decides", about, printable(name));
}

void read_gates(const ConfigReader& config, std::vector<LayerConfig>& layers) {
  std::optional<GateKind> everywhere;
  if (const Json* gating = config.find("gating")) {
    if (gating->is_string()) {
      everywhere = gate_named(gating->get<std::string>(), config.about("gating"));
    } else if (!gating->is_boolean()) {
      config.refuse_type("gating", *gating, "true, `per-head` or `per-element`");
    } else if (!gating->get<bool>()) {
      fail(ErrorKind::unsupported, "{} is false; Lagoon runs models whose attention has an output gate, as every Laguna has", config.about("gating"));
    }
  }
  const auto own = config.texts("gating_types");
  if (own) check_length(config, "gating_types", own->size(), layers.size());
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    layers[layer].stated_gate = own ? gate_named((*own)[layer], config.about("gating_types")) : everywhere;
    if (everywhere && layers[layer].stated_gate != everywhere) {
      fail(ErrorKind::corrupt, "{} is {} and `gating_types` has {} for layer {}; the two must agree", config.about("gating"),
           *everywhere == GateKind::per_head ? "per-head" : "per-element", *everywhere == GateKind::per_head ? "per-element" : "per-head", layer);
    }
    layers[layer].gate = layers[layer].stated_gate.value_or(GateKind::per_head);
  }
}

void read_experts(const ConfigReader& config, ModelConfig& model) {
  const auto sparse = std::count_if(model.layers.begin(), model.layers.end(), [](const LayerConfig& layer) { return !layer.dense; });
  const int64_t least = sparse > 0 ? 1 : 0;
  model.expert_width = static_cast<int>(config.integer("moe_intermediate_size", least, most_width).value_or(512));
  model.shared_width = static_cast<int>(config.integer("shared_expert_intermediate_size", least, most_width).value_or(512));
  model.experts = static_cast<int>(config.integer("num_experts", least, most_experts).value_or(256));
  model.experts_per_token = static_cast<int>(config.integer("num_experts_per_tok", least, most_experts).value_or(8));
  if (sparse * model.experts > most_experts_in_all) {
    fail(ErrorKind::unsupported, "{} is {} and {} layers are sparse; Lagoon runs models of at most {} experts in all, correct config.json",
         config.about("num_experts"), model.experts, sparse, most_experts_in_all);
  }
  if (sparse > 0 && model.experts_per_token > model.experts) {
    fail(ErrorKind::corrupt, "{} is {}, `num_experts` is {}; a token cannot go to more experts than there are", config.about("num_experts_per_tok"),
         model.experts_per_token, model.experts);
  }
  model.routed_scale = static_cast<float>(config.number("moe_routed_scaling_factor", 1e-6, 1e6).value_or(1.0));
  model.router_softcap = static_cast<float>(config.number("moe_router_logit_softcapping", 0.0, 1e6).value_or(0.0));
}

void read_window(const ConfigReader& config, ModelConfig& model) {
  const bool slides =
      std::any_of(model.layers.begin(), model.layers.end(), [](const LayerConfig& layer) { return layer.attention == AttentionKind::sliding; });
  if (!slides) return;  // some configs keep a window that no layer uses
  // Absent is the class default; null and 0 say that there is none.
  const bool absent = !config.object().contains("sliding_window");
  const int64_t window = absent ? 512 : config.integer("sliding_window", 0, std::numeric_limits<int32_t>::max()).value_or(0);
  if (window == 0) {
    fail(ErrorKind::corrupt, "{} is {}, but `layer_types` has sliding layers, which need a window of at least 1 key", config.about("sliding_window"),
         shown(config.object()["sliding_window"]));
  }
  model.sliding_window = static_cast<int>(window);
}

}  // namespace

ModelConfig read_model_config(const Json& document, std::string_view what) {
  const std::string file(what);
  const ConfigReader outer(document, file);
  const Json effective = effective_config(document, file);
  const ConfigReader config(effective, file);
  check_architecture(config, outer);
  refuse_what_is_not_run(config);

  ModelConfig model;
  model.vocabulary = static_cast<int>(config.integer("vocab_size", 1, most_vocabulary).value_or(100352));
  model.hidden = static_cast<int>(config.integer("hidden_size", 1, most_width).value_or(2048));
  model.head_dim = static_cast<int>(config.integer("head_dim", 1, 1 << 14).value_or(128));
  if (model.head_dim > largest_head_dim) {
    fail(ErrorKind::unsupported, "{} is {}; Lagoon's kernels take heads of at most {}, and Laguna's have 128", config.about("head_dim"),
         model.head_dim, largest_head_dim);
  }
  if (model.head_dim % 2 != 0) fail(ErrorKind::corrupt, "{} is {}; rotary embedding needs an even number", config.about("head_dim"), model.head_dim);
  model.kv_heads = static_cast<int>(config.integer("num_key_value_heads", 1, most_heads).value_or(8));
  model.dense_width = static_cast<int>(config.integer("intermediate_size", 1, most_width).value_or(8192));
  model.rms_epsilon = static_cast<float>(config.number("rms_norm_eps", 1e-30, 1.0).value_or(1e-6));
  model.max_context = config.integer("max_position_embeddings", 1, most_context).value_or(131072);
  model.layers.resize(static_cast<size_t>(config.integer("num_hidden_layers", 1, most_layers).value_or(40)));
  read_attention_kinds(config, model.layers);
  read_query_heads(config, model.kv_heads, model.layers);
  read_mlp_kinds(config, model.layers);
  read_gates(config, model.layers);
  read_experts(config, model);
  read_window(config, model);
  const RopeConfigs ropes = read_rope_configs(config, model.head_dim, model.layers);
  model.assumptions = config_assumptions(config, model);
  model.assumptions.insert(model.assumptions.end(), ropes.assumptions.begin(), ropes.assumptions.end());
  model.full_rotary = ropes.full;
  model.sliding_rotary = ropes.sliding;
  for (const int64_t id : config.integer_or_list("eos_token_id", 0, model.vocabulary - 1).value_or(std::vector<int64_t>{})) {
    model.eos_ids.push_back(static_cast<int32_t>(id));
  }
  return model;
}

}  // namespace lagoon
