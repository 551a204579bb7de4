#include "checkpoint/config_assumptions.h"

#include "base/error.h"
#include "checkpoint/edit_distance.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace lagoon {
namespace {

struct Default {
  std::string_view key;
  std::string_view value;
  bool (*counts)(const ConfigReader& config, const ModelConfig& model);
};

bool is_sparse(const ConfigReader&, const ModelConfig& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const LayerConfig& layer) { return !layer.dense; });
}
bool slides(const ConfigReader&, const ModelConfig& model) { return model.sliding_window > 0; }
bool always(const ConfigReader&, const ModelConfig&) { return true; }

/// M.1 has full layers alone and may leave layer_types out; then it has no window either.
bool speaks_of_a_window(const ConfigReader& config, const ModelConfig&) {
  const Json* window = config.find("sliding_window");
  const Json* ropes = config.find("rope_parameters");
  return (window != nullptr && *window != 0) || (ropes != nullptr && ropes->is_object() && ropes->contains("sliding_attention"));
}

constexpr std::array<Default, 5> defaults{{{"layer_types", "`full_attention` in every layer", speaks_of_a_window},
                                           {"sliding_window", "512", slides},
                                           {"num_experts_per_tok", "8", is_sparse},
                                           {"moe_routed_scaling_factor", "1.0", is_sparse},
                                           {"rms_norm_eps", "1e-06", always}}};

/// Keys that decide what is computed. An unknown key near one of them that is absent is taken for it misspelled.
constexpr std::array<std::string_view, 34> known_keys = {"vocab_size",
                                                         "hidden_size",
                                                         "intermediate_size",
                                                         "num_hidden_layers",
                                                         "num_attention_heads",
                                                         "num_attention_heads_per_layer",
                                                         "num_key_value_heads",
                                                         "rms_norm_eps",
                                                         "hidden_act",
                                                         "layer_types",
                                                         "sliding_window",
                                                         "max_position_embeddings",
                                                         "mlp_layer_types",
                                                         "mlp_only_layers",
                                                         "decoder_sparse_step",
                                                         "num_experts",
                                                         "num_experts_per_tok",
                                                         "moe_intermediate_size",
                                                         "shared_expert_intermediate_size",
                                                         "moe_routed_scaling_factor",
                                                         "moe_router_logit_softcapping",
                                                         "moe_apply_router_weight_on_input",
                                                         "moe_router_score_func",
                                                         "moe_router_use_sigmoid",
                                                         "norm_topk_prob",
                                                         "gating_types",
                                                         "rope_parameters",
                                                         "rope_scaling",
                                                         "rope_theta",
                                                         "partial_rotary_factor",
                                                         "swa_rope_parameters",
                                                         "swa_attention_sink_enabled",
                                                         "tie_word_embeddings",
                                                         "attention_bias"};

/// Mathematics of other models, and the value that leaves things as Laguna has them.
struct Foreign {
  std::string_view key;
  std::string_view harmless;
};
constexpr std::array<Foreign, 13> foreign_keys{{{"final_logit_softcapping", "0"},
                                                {"attn_logit_softcapping", "0"},
                                                {"logit_scale", "1"},
                                                {"logits_scaling", "1"},
                                                {"embedding_multiplier", "1"},
                                                {"residual_multiplier", "1"},
                                                {"attention_multiplier", "1"},
                                                {"query_pre_attn_scalar", "128"},
                                                {"scoring_func", "sigmoid"},
                                                {"use_qk_norm", "true"},
                                                {"attention_chunk_size", "0"},
                                                {"hidden_activation", "silu"},
                                                {"alibi", "false"}}};

bool is_harmless(const Json& value, std::string_view harmless) {
  if (value.is_null() || (value == false && harmless != "true")) return true;
  if (value.is_number()) return fmt::format("{}", value.get<double>()) == harmless;
  return value.is_string() ? value.get<std::string>() == harmless : value.dump() == harmless;
}

/// The known key that is meant, or nothing.
std::string_view near_one_of(const std::vector<std::string_view>& keys, std::string_view typed) {
  constexpr size_t most_slips = 2;
  const auto found = std::find_if(keys.begin(), keys.end(), [&](std::string_view key) {
    return typed.size() <= key.size() + most_slips && key.size() <= typed.size() + most_slips && edit_distances(typed, key).back() <= most_slips;
  });
  return found == keys.end() ? std::string_view() : *found;
}

}  // namespace

std::vector<std::string> config_assumptions(const ConfigReader& config, const ModelConfig& model) {
  constexpr size_t most_compared = 1000;  // members of config.json; no published one has more than 60
  std::vector<std::string> found;
  for (const Default& entry : defaults) {
    if (config.has(entry.key) || !entry.counts(config, model)) continue;
    found.push_back(fmt::format("{} is missing; {} is taken, the default of LagunaConfig", config.about(entry.key), entry.value));
  }
  for (const Foreign& entry : foreign_keys) {
    const Json* value = config.find(entry.key);
    if (value == nullptr || is_harmless(*value, entry.harmless)) continue;
    found.push_back(fmt::format("{} is {}; no Laguna has such a thing, and Lagoon does not compute it", config.about(entry.key), shown(*value)));
  }
  std::vector<std::string_view> absent;
  std::copy_if(known_keys.begin(), known_keys.end(), std::back_inserter(absent),
               [&](std::string_view key) { return !config.object().contains(key); });
  size_t compared = 0;
  for (const auto& [key, value] : config.object().items()) {
    if (++compared > most_compared) break;
    const std::string_view meant = near_one_of(absent, key);
    if (!meant.empty()) found.push_back(fmt::format("{} is no key that Lagoon knows; `{}` is near", config.about(key), meant));
  }
  return found;
}

}  // namespace lagoon
