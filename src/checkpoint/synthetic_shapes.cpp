#include "checkpoint/synthetic_shapes.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace lagoon {
namespace {

constexpr int head_dim = 128;
constexpr int window = 512;
constexpr int sliding_run = 3;  // sliding layers behind each full one

// Source: config.json of poolside/Laguna-XS.2, Laguna-XS-2.1, Laguna-S-2.1 (the one with a context of 2^20) and Laguna-M.1 (2^18);
// mini is XS-2.1 made small.
constexpr std::array<PublishedShape, 5> shapes{{
    {.name = "xs.2",
     .layers = 40,
     .hidden = 2048,
     .dense_width = 8192,
     .dense_layers = 1,
     .full_heads = 48,
     .sliding_heads = 64,
     .kv_heads = 8,
     .experts = 256,
     .experts_per_token = 8,
     .expert_width = 512,
     .routed_scale = 2.5,
     .early_config = true,
     .max_context = 262144,
     .rope = {.factor = 64.0, .original_context = 4096, .beta_fast = 64.0, .attention_factor = 1.0}},
    {.name = "xs-2.1",
     .layers = 40,
     .hidden = 2048,
     .dense_width = 8192,
     .dense_layers = 1,
     .full_heads = 48,
     .sliding_heads = 64,
     .kv_heads = 8,
     .experts = 256,
     .experts_per_token = 8,
     .expert_width = 512,
     .routed_scale = 2.5,
     .max_context = 262144,
     .rope = {.factor = 32.0, .original_context = 8192, .beta_fast = 64.0, .attention_factor = 1.3465735902799727}},
    {.name = "s-2.1",
     .layers = 48,
     .hidden = 3072,
     .dense_width = 12288,
     .dense_layers = 1,
     .full_heads = 48,
     .sliding_heads = 72,
     .kv_heads = 8,
     .experts = 256,
     .experts_per_token = 10,
     .expert_width = 1024,
     .routed_scale = 2.5,
     .max_context = 1048576,
     .rope = {.factor = 128.0, .original_context = 8192, .beta_fast = 32.0, .attention_factor = 1.4852030263919618}},
    {.name = "m.1",
     .layers = 70,
     .hidden = 4096,
     .dense_width = 16384,
     .dense_layers = 3,
     .full_heads = 64,
     .sliding_heads = 0,
     .kv_heads = 8,
     .experts = 256,
     .experts_per_token = 16,
     .expert_width = 1024,
     .routed_scale = 1.0,
     .per_element_gate = true,
     .max_context = 262144,
     .rope = {.factor = 64.0, .original_context = 4096, .beta_fast = 64.0, .attention_factor = 1.0, .partial = 1.0}},
    {.name = "mini",
     .layers = 12,
     .hidden = 1024,
     .dense_width = 4096,
     .dense_layers = 1,
     .full_heads = 16,
     .sliding_heads = 24,
     .kv_heads = 4,
     .experts = 64,
     .experts_per_token = 8,
     .expert_width = 512,
     .routed_scale = 2.5,
     .max_context = 262144,
     .rope = {.factor = 32.0, .original_context = 8192, .beta_fast = 64.0, .attention_factor = 1.3465735902799727}},
}};

bool is_sliding(const PublishedShape& shape, int layer) { return shape.sliding_heads > 0 && layer % (sliding_run + 1) != 0; }

Json ropes_of(const PublishedShape& shape) {
  const FullRope& rope = shape.rope;
  Json ropes;
  ropes["full_attention"] = {{"rope_type", "yarn"},
                             {"rope_theta", 500000.0},
                             {"factor", rope.factor},
                             {"original_max_position_embeddings", rope.original_context},
                             {"beta_fast", rope.beta_fast},
                             {"beta_slow", 1.0},
                             {"attention_factor", rope.attention_factor},
                             {"partial_rotary_factor", rope.partial}};
  if (shape.sliding_heads > 0) {
    ropes["sliding_attention"] = {{"rope_type", "default"}, {"rope_theta", 10000.0}, {"partial_rotary_factor", 1.0}};
  }
  return ropes;
}

void add_layer_lists(const PublishedShape& shape, int layers, Json& config) {
  Json kinds = Json::array();
  Json heads = Json::array();
  Json mlps = Json::array();
  Json gates = Json::array();
  for (int layer = 0; layer < layers; ++layer) {
    const bool sliding = is_sliding(shape, layer);
    kinds.push_back(sliding ? "sliding_attention" : "full_attention");
    heads.push_back(sliding ? shape.sliding_heads : shape.full_heads);
    mlps.push_back(layer < shape.dense_layers ? "dense" : "sparse");
    gates.push_back("per_head");
  }
  config["layer_types"] = kinds;
  config["mlp_layer_types"] = mlps;
  if (shape.sliding_heads > 0) config["num_attention_heads_per_layer"] = heads;
  if (shape.per_element_gate || shape.early_config) return;
  config["gating_types"] = gates;
  Json dense = Json::array();
  for (int layer = 0; layer < std::min(layers, shape.dense_layers); ++layer) dense.push_back(layer);
  config["mlp_only_layers"] = dense;
}

}  // namespace

std::span<const PublishedShape> published_shapes() { return shapes; }

const PublishedShape* find_shape(std::string_view name) {
  const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const PublishedShape& shape) { return shape.name == name; });
  return found == shapes.end() ? nullptr : &*found;
}

Json config_of(const PublishedShape& shape, int layers) {
  Json config;
  config["architectures"] = Json::array({"LagunaForCausalLM"});
  config["model_type"] = "laguna";
  config["vocab_size"] = synthetic_vocabulary;
  config["hidden_size"] = shape.hidden;
  config["intermediate_size"] = shape.dense_width;
  config["num_hidden_layers"] = layers;
  config["num_attention_heads"] = shape.full_heads;
  config["num_key_value_heads"] = shape.kv_heads;
  config["head_dim"] = head_dim;
  config["sliding_window"] = shape.sliding_heads > 0 ? window : 0;
  config["gating"] = shape.per_element_gate ? Json("per-element") : shape.early_config ? Json(true) : Json("per-head");
  add_layer_lists(shape, layers, config);
  config["num_experts"] = shape.experts;
  config["num_experts_per_tok"] = shape.experts_per_token;
  config["moe_intermediate_size"] = shape.expert_width;
  config["shared_expert_intermediate_size"] = shape.expert_width;
  config["moe_routed_scaling_factor"] = shape.routed_scale;
  config["moe_apply_router_weight_on_input"] = false;
  config["moe_router_logit_softcapping"] = 0.0;
  config["norm_topk_prob"] = true;
  config["decoder_sparse_step"] = 1;
  config["router_aux_loss_coef"] = 0.0;
  config["max_position_embeddings"] = shape.max_context;
  config["rope_parameters"] = ropes_of(shape);
  config["rms_norm_eps"] = 1e-06;
  config["attention_bias"] = false;
  config["attention_dropout"] = 0.0;
  config["tie_word_embeddings"] = false;
  config["use_cache"] = true;
  config["torch_dtype"] = "bfloat16";
  config["bos_token_id"] = synthetic_bos;
  config["eos_token_id"] = Json::array({synthetic_bos, 24});
  config["pad_token_id"] = synthetic_pad;
  return config;
}

}  // namespace lagoon
