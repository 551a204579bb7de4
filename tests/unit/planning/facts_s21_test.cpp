// The published facts page of Laguna-S-2.1, fact by fact.
#include "facts_cases.h"

#include <gtest/gtest.h>

#include <array>

namespace lagoon {
namespace {

using testing_support::facts_of_config;
using testing_support::facts_of_spec;
using testing_support::FactsUnderTest;

struct Expected {
  const char* key;
  Json value;
  const char* source;  // kind and place; of calculated ones the kind alone
};

const Json none = nullptr;
const char* const nobody = "not disclosed";

const std::vector<Expected> page = {
    {"release.date", "2026-07-21", "published announcement, date of the post"},
    {"release.license", "openmdw-1.1", "published model card, front matter"},
    {"release.modalities", "text", "published model card"},
    {"params.total", 118000000000, "published model card"},
    {"params.active", 8000000000, "published announcement"},
    {"params.active_nonembedding", none, nobody},
    {"params.counted_total", 117561977600, "headers tensor headers"},
    {"params.counted_embedding", 616562688, "headers tensor headers"},
    {"params.counted_nonembedding", 116945414912, "headers tensor headers"},
    {"params.counted_largest_layer", 2489285120, "headers tensor headers of layers.1"},
    {"params.counted_active_nonembedding", 7832693504, "headers tensor headers"},
    {"shape.layers", 48, "config /num_hidden_layers"},
    {"shape.d_model", 3072, "config /hidden_size"},
    {"shape.vocab", 100352, "config /vocab_size"},
    {"shape.tied_embeddings", false, "config /tie_word_embeddings"},
    {"shape.tokenizer", "Laguna family, 100,352 tokens", "published model card"},
    {"shape.aspect", 64, "calc"},
    {"attn.mixers", "GQA, SWA", "published model card"},
    {"attn.layout", "1 global : 3 SWA, starting with global", "config /layer_types"},
    {"attn.global_layers", 12, "config /layer_types"},
    {"attn.local_per_global", 3, "calc"},
    {"attn.local_layers", 36, "config /layer_types"},
    {"attn.heads", 48, "config /num_attention_heads"},
    {"attn.kv_heads", 8, "config /num_key_value_heads"},
    {"attn.width", 6144, "calc"},
    {"attn.heads_per_kv_head", 6, "calc"},
    {"attn.qk_head_dim", 128, "config /head_dim"},
    {"attn.v_head_dim", 128, "config /head_dim"},
    {"attn.window", 512, "config /sliding_window"},
    {"attn.local_kv_heads", 8, "config /num_key_value_heads"},
    {"attn.local_heads", 72, "config /num_attention_heads_per_layer/1"},
    {"attn.local_qk_head_dim", 128, "config /head_dim"},
    {"attn.positions", "partial RoPE 50 % (global), RoPE (SWA)", "config /rope_parameters"},
    {"attn.rope_theta", 500000, "config /rope_parameters/full_attention/rope_theta"},
    {"attn.local_rope_theta", 10000, "config /rope_parameters/sliding_attention/rope_theta"},
    {"attn.rotary_fraction", 0.5, "config /rope_parameters/full_attention/partial_rotary_factor"},
    {"attn.qk_norm", "yes, per head", "model code"},
    {"attn.output_gate", "softplus, per head, before o_proj", "published model card"},
    {"attn.qkv_bias", false, "model code"},
    {"ffn.activation", "SwiGLU", "model code"},
    {"ffn.dim", 12288, "config /intermediate_size"},
    {"ffn.bias", false, "model code"},
    {"ffn.ratio", 4, "calc"},
    {"moe.experts", 256, "config /num_experts"},
    {"moe.experts_per_token", 10, "config /num_experts_per_tok"},
    {"moe.expert_dim", 1024, "config /moe_intermediate_size"},
    {"moe.dense_layers", 1, "config /mlp_only_layers"},
    {"moe.router_score", "sigmoid", "model code"},
    {"moe.load_balancing", none, nobody},
    {"moe.routed_scaling_factor", 2.5, "config /moe_routed_scaling_factor"},
    {"moe.renormalize", true, "config /norm_topk_prob"},
    {"moe.expert_ratio", 0.333333, "calc"},
    {"moe.sparsity", 25.6, "calc"},
    {"moe.active_ratio", 0.0677966, "calc"},
    {"mtp.depth", none, nobody},
    {"norm.type", "RMSNorm", "model code"},
    {"norm.placement", "pre", "model code"},
    {"norm.epsilon", 1e-06, "config /rms_norm_eps"},
    {"context.pretraining", none, nobody},
    {"context.trained", none, nobody},
    {"context.advertised", 1048576, "published model card"},
    {"context.extension", "YaRN factor 128 over 8,192 on global layers; beta_fast 32, beta_slow 1, attention factor 1.485",
     "config /rope_parameters/full_attention"},
    {"train.tokens", none, nobody},
    {"train.optimizer", none, nobody},
    {"train.peak_lr", none, nobody},
    {"train.final_lr", none, nobody},
    {"train.lr_schedule", none, nobody},
    {"train.warmup", none, nobody},
    {"train.batch_size", none, nobody},
    {"train.weight_decay", none, nobody},
    {"train.adam_betas", none, nobody},
    {"train.grad_clip", none, nobody},
    {"train.precision", none, nobody},
    {"train.data_mix", "same pretraining data as XS 2.1", "published announcement"},
    {"train.data_cutoff", "November 2025", "published announcement"},
    {"train.hardware", "4,096 H200, pretraining began 2026-05-22", "published announcement"},
    {"train.accelerators", 4096, "published announcement"},
    {"kv.bytes_per_token", 49728, "calc"},
    {"kv.global_bytes_per_token", 49152, "calc"},
    {"kv.bytes_per_token_per_billion_active", 6216, "calc"},
    {"kv.bytes_at_context_per_billion_active", 814743552, "calc"},
    {"kv.bytes_at_context", 6517948416, "calc"},
};

void expect_page(const FactsUnderTest& found) {
  EXPECT_EQ(found.id, "laguna-s-2.1");
  ASSERT_EQ(found.facts.size(), page.size());
  for (size_t at = 0; at < page.size(); ++at) {
    const Expected& expected = page[at];
    const Fact& fact = found.facts[at];
    EXPECT_EQ(fact.key, expected.key);
    EXPECT_EQ(fact.value, expected.value) << fact.key;
    const std::string source = found.source(fact.key);
    const bool kind_alone = fact.source.kind == "calc" || fact.source.kind == "model code";
    EXPECT_EQ(kind_alone ? fact.source.kind : source, expected.source) << fact.key;
    EXPECT_FALSE(fact.label.empty()) << fact.key;
  }
  EXPECT_EQ(found.note("params.counted_total"), "reproduces stated total (backbone) and active (with output head)");
  EXPECT_EQ(found.note("params.active_nonembedding"), "the scope of the stated 8B is not given");
  EXPECT_EQ(found.note("moe.router_score"), "the card says softplus gating; the code decides");
  EXPECT_EQ(found.note("attn.layout"), "inferred: the pattern repeats 12 times");
}

TEST(FactsOfS21, EqualThePublishedPageInBf16) { expect_page(facts_of_spec("s-2.1:bf16")); }

TEST(FactsOfS21, EqualThePublishedPageQuantized) {
  expect_page(facts_of_spec("s-2.1:s-2.1-oq4e"));
  expect_page(facts_of_spec("s-2.1:4/64"));
}

TEST(FactsOfS21, CalculatedOnesShowTheirNumbers) {
  const FactsUnderTest found = facts_of_spec("s-2.1:bf16");
  EXPECT_EQ(found.at("kv.bytes_at_context").source.excerpt, "49,152 x 131,072 + 147,456 x min(131,072, 512)");
  EXPECT_EQ(found.at("kv.global_bytes_per_token").source.excerpt, "12 layers x 2 x 8 x 128 x 2 bytes");
  EXPECT_EQ(found.at("moe.active_ratio").source.excerpt, "8B / 118B");
}

TEST(FactsOfS21, TheListThatThePageCitesIsCitedWhereItStandsThere) {
  Json config = testing_support::config_of_shape("s-2.1");
  config["mlp_only_layers"] = {0};
  FactsUnderTest found = facts_of_config(config);
  EXPECT_EQ(found.source("moe.dense_layers"), "config /mlp_only_layers");
  EXPECT_EQ(found.value("moe.dense_layers"), 1);

  // Where the two disagree, the one that decides is cited.
  config["mlp_only_layers"] = {0, 1, 2};
  found = facts_of_config(config);
  EXPECT_EQ(found.source("moe.dense_layers"), "config /mlp_layer_types");
  EXPECT_EQ(found.value("moe.dense_layers"), 1);

  for (const Json& unread : {Json("x"), Json::array({"x"}), Json::array({-1}), Json::array({48}), Json::array({1e300}), Json::array({Json()})}) {
    config["mlp_only_layers"] = unread;
    EXPECT_EQ(facts_of_config(config).source("moe.dense_layers"), "config /mlp_layer_types") << unread;
  }
  config.erase("mlp_layer_types");
  config["mlp_only_layers"] = {0};
  EXPECT_EQ(facts_of_config(config).source("moe.dense_layers"), "config /mlp_only_layers");
  config.erase("mlp_only_layers");
  found = facts_of_config(config);
  EXPECT_EQ(found.source("moe.dense_layers"), "model code class default of `mlp_only_layers`");
  EXPECT_EQ(found.value("moe.dense_layers"), 1);
}

TEST(FactsOfS21, TheCheckpointWith256KHasThePublishersStatementsAndItsOwnRope) {
  Json config = testing_support::config_of_shape("s-2.1");
  config["max_position_embeddings"] = 262144;
  config["rope_parameters"]["full_attention"]["factor"] = 32.0;
  config["rope_parameters"]["full_attention"].erase("attention_factor");
  const FactsUnderTest found = facts_of_config(config);
  EXPECT_EQ(found.id, "laguna-s-2.1");
  EXPECT_EQ(found.value("context.extension"), "YaRN factor 32 over 8,192 on global layers; beta_fast 32, beta_slow 1, attention factor 1.347");
  EXPECT_EQ(found.note("context.extension"), "attention factor by the formula 0.1 ln(factor) + 1");
}

TEST(FactsOfS21, JsonHasEveryFactWithItsSource) {
  const FactsUnderTest found = facts_of_spec("s-2.1:bf16");
  const Json list = to_json(found.facts);
  ASSERT_EQ(list.size(), found.facts.size());
  for (const Json& fact : list) {
    for (const char* key : {"key", "group", "label", "value", "unit", "source", "note", "definition"}) EXPECT_TRUE(fact.contains(key)) << fact;
    for (const char* key : {"kind", "place", "excerpt"}) EXPECT_TRUE(fact["source"].at(key).is_string()) << fact;
    EXPECT_TRUE(fact["source"]["kind"] != "not disclosed" || fact["value"].is_null()) << fact;
  }
  EXPECT_TRUE(list[7]["value"].is_number_integer()) << list[7];
}

}  // namespace
}  // namespace lagoon
