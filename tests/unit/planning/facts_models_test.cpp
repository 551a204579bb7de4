// Facts of the other models, and of the forms in which configurations are published.
#include "facts_cases.h"

#include "planning/facts_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::config_of_shape;
using testing_support::facts_of_config;
using testing_support::facts_of_spec;
using testing_support::FactsUnderTest;

TEST(FactsOfM1, WhatItDoesNotHaveIsNullWithAReason) {
  const FactsUnderTest found = facts_of_spec("m.1:bf16");
  EXPECT_EQ(found.id, "laguna-m.1");
  for (const char* key :
       {"attn.window", "attn.local_kv_heads", "attn.local_heads", "attn.local_qk_head_dim", "attn.local_rope_theta", "attn.local_per_global"}) {
    EXPECT_TRUE(found.value(key).is_null()) << key;
    EXPECT_EQ(found.note(key), "no sliding layers") << key;
    EXPECT_EQ(found.source(key), "config /layer_types") << key;
  }
  EXPECT_EQ(found.value("attn.layout"), "all global");
  EXPECT_EQ(found.value("attn.global_layers"), 70);
  EXPECT_EQ(found.value("attn.local_layers"), 0);
}

TEST(FactsOfM1, AreItsOwn) {
  const FactsUnderTest found = facts_of_spec("m.1:bf16");
  EXPECT_EQ(found.value("params.total"), 225000000000);
  EXPECT_EQ(found.value("params.counted_total"), 225795725568);
  EXPECT_EQ(found.note("params.counted_total"), "reproduces stated total (without embedding and head) and active (with output head)");
  EXPECT_EQ(found.value("attn.mixers"), "GQA");
  EXPECT_EQ(found.value("attn.heads"), 64);
  EXPECT_EQ(found.source("attn.heads"), "config /num_attention_heads");
  EXPECT_EQ(found.value("attn.width"), 8192);
  EXPECT_EQ(found.value("attn.positions"), "RoPE");
  EXPECT_EQ(found.value("attn.rotary_fraction"), 1);
  EXPECT_EQ(found.value("attn.output_gate"), "softplus, per element, before o_proj");
  EXPECT_EQ(found.at("attn.output_gate").source.kind, "headers");
  EXPECT_EQ(found.value("moe.dense_layers"), 3);
  EXPECT_EQ(found.source("moe.dense_layers"), "config /mlp_layer_types");
  EXPECT_EQ(found.value("moe.routed_scaling_factor"), 1);
  EXPECT_EQ(found.value("moe.sparsity"), 16);
  EXPECT_EQ(found.value("shape.aspect"), 58.5143);
  EXPECT_EQ(found.value("context.extension"), "YaRN factor 64 over 4,096 on global layers; beta_fast 64, beta_slow 1, attention factor 1");
  EXPECT_EQ(found.value("release.license"), "apache-2.0");
  EXPECT_TRUE(found.value("release.date").is_null());
  EXPECT_EQ(found.value("kv.global_bytes_per_token"), 286720);
  EXPECT_EQ(found.value("kv.bytes_per_token"), 286720);
  EXPECT_EQ(found.value("kv.bytes_at_context"), 37580963840);
}

TEST(FactsOfM1, LayerTypesMayBeAbsent) {
  Json config = config_of_shape("m.1");
  config.erase("layer_types");
  const FactsUnderTest found = facts_of_config(config);
  EXPECT_EQ(found.value("attn.layout"), "all global");
  EXPECT_EQ(found.source("attn.layout"), "model code class default of `layer_types`");
  EXPECT_EQ(found.source("attn.window"), "model code class default of `layer_types`");
  EXPECT_TRUE(found.value("attn.window").is_null());
}

TEST(FactsOfM1, TheFlatRopeFormIsCitedWhereItStands) {
  Json config = config_of_shape("m.1");
  Json yarn = config["rope_parameters"]["full_attention"];
  yarn.erase("rope_theta");
  yarn.erase("partial_rotary_factor");
  config.erase("rope_parameters");
  config["rope_scaling"] = yarn;
  config["rope_theta"] = 500000.0;
  config["partial_rotary_factor"] = 1.0;
  const FactsUnderTest found = facts_of_config(config);
  EXPECT_EQ(found.id, "laguna-m.1");
  EXPECT_EQ(found.source("attn.rope_theta"), "config /rope_theta");
  EXPECT_EQ(found.value("attn.rope_theta"), 500000);
  EXPECT_EQ(found.source("attn.rotary_fraction"), "config /partial_rotary_factor");
  EXPECT_EQ(found.value("attn.rotary_fraction"), 1);
  EXPECT_EQ(found.source("context.extension"), "config /rope_scaling");
  EXPECT_EQ(found.source("attn.positions"), "config /rope_scaling");
}

TEST(FactsOfXs21, AreItsOwn) {
  const FactsUnderTest found = facts_of_spec("xs-2.1:4/64");
  EXPECT_EQ(found.id, "laguna-xs-2.1");
  EXPECT_EQ(found.value("params.counted_total"), 33442617088);
  EXPECT_EQ(found.note("params.counted_total"), "reproduces stated total (without embedding and head) and active (with embedding and head)");
  EXPECT_EQ(found.value("attn.local_heads"), 64);
  EXPECT_EQ(found.value("release.license"), "openmdw-1.1");
  EXPECT_EQ(found.value("kv.global_bytes_per_token"), 40960);
  EXPECT_EQ(found.value("kv.bytes_at_context"), int64_t{40960} * 131072 + 62914560);
  EXPECT_EQ(found.value("shape.aspect"), 51.2);
}

TEST(FactsOfXs2, DifferInTheRopeAlone) {
  Json config = config_of_shape("xs-2.1");
  Json& full = config["rope_parameters"]["full_attention"];
  full["factor"] = 64.0;
  full["attention_factor"] = 1.0;
  full.erase("original_max_position_embeddings");
  config["rope_parameters"]["original_max_position_embeddings"] = 4096;  // loose, as it is published
  config["gating"] = true;
  config.erase("gating_types");
  const FactsUnderTest found = facts_of_config(config);
  EXPECT_EQ(found.id, "laguna-xs.2");
  EXPECT_EQ(found.value("release.license"), "apache-2.0");
  EXPECT_EQ(found.value("attn.output_gate"), "softplus, per head, before o_proj");
  EXPECT_EQ(found.value("context.extension"), "YaRN factor 64 over 4,096 on global layers; beta_fast 64, beta_slow 1, attention factor 1");
}

TEST(FactsOfNano, ComeFromTheShippedCheckpoint) {
  const FactsUnderTest found(Checkpoint::open(LAGOON_SOURCE_DIR "/models/nano", {}, SystemFiles()));
  EXPECT_EQ(found.id, "nano");
  EXPECT_EQ(found.value("params.total"), 6960000);
  EXPECT_NEAR(found.value("params.counted_total").get<double>(), 6.96e6, 5e3);
  EXPECT_THAT(found.note("params.counted_total"), HasSubstr("no active figure is stated"));
  EXPECT_TRUE(found.value("params.counted_active_nonembedding").is_null());
  EXPECT_THAT(found.note("params.counted_active_nonembedding"), HasSubstr("not shown as a fact: no active figure is stated to compare with"));
  EXPECT_TRUE(found.value("moe.active_ratio").is_null());
  EXPECT_TRUE(found.value("kv.bytes_per_token_per_billion_active").is_null());
  EXPECT_EQ(found.source("params.total"), "published models/nano/README.md");
  EXPECT_EQ(found.source("moe.renormalize"), "model code class default of `norm_topk_prob`");
  EXPECT_EQ(found.value("moe.renormalize"), true);
  EXPECT_EQ(found.value("context.trained"), 256);
  EXPECT_THAT(found.note("kv.bytes_at_context"), HasSubstr("at 4,096 tokens"));
  EXPECT_EQ(found.value("kv.bytes_at_context"), 2 * 256 * 4096 + 6 * 256 * 64);
}

TEST(FactsOfOthers, ATruncatedModelHasNothingToCompareWith) {
  const FactsUnderTest found = facts_of_spec("s-2.1:bf16,layers=4");
  EXPECT_EQ(found.id, "");
  EXPECT_TRUE(found.value("params.total").is_null());
  EXPECT_EQ(found.source("release.license"), "not disclosed");
  EXPECT_TRUE(found.value("params.counted_total").is_null());
  EXPECT_EQ(found.at("params.counted_total").source.kind, "headers");
  EXPECT_THAT(found.note("params.counted_total"), HasSubstr("no published total to compare with"));
  EXPECT_THAT(found.note("params.counted_embedding"), HasSubstr("counted 616,562,688"));
  EXPECT_EQ(found.value("release.modalities"), "text");
  EXPECT_EQ(found.value("attn.mixers"), "GQA, SWA");
  EXPECT_EQ(found.at("attn.mixers").source.kind, "config");
  EXPECT_EQ(found.value("attn.layout"), "1 global : 3 SWA, starting with global");
}

TEST(FactsOfOthers, CountsThatMissWhatIsStatedAreNotShown) {
  const Checkpoint checkpoint = open_synthetic(parse_synthetic_spec("xs-2.1:bf16"));
  const std::vector<PublishedModel> models = published_models();
  PublishedModel model = *find_published_model(models, checkpoint.config());
  model.statements["params.active"].value = 3600000000;
  const std::vector<Fact> facts = facts_of(checkpoint, &model, {});
  for (const char* key : {"params.counted_total", "params.counted_embedding", "params.counted_nonembedding", "params.counted_largest_layer",
                          "params.counted_active_nonembedding"}) {
    const Fact* fact = find_fact(facts, key);
    EXPECT_TRUE(fact->value.is_null()) << key;
    EXPECT_THAT(fact->note, HasSubstr("does not reproduce what is stated within 5 %"));
    EXPECT_THAT(fact->note, HasSubstr("3.6B stated"));
  }
}

TEST(FactsOfOthers, AStatementThatTheCheckpointContradictsIsANote) {
  const Checkpoint checkpoint = open_synthetic(parse_synthetic_spec("m.1:bf16"));
  const std::vector<PublishedModel> models = published_models();
  PublishedModel model = *find_published_model(models, checkpoint.config());
  model.statements["attn.output_gate"] = {"softplus, per head, before o_proj", "model card", "", ""};
  const std::vector<Fact> facts = facts_of(checkpoint, &model, {});
  const Fact* gate = find_fact(facts, "attn.output_gate");
  EXPECT_EQ(gate->value, "softplus, per element, before o_proj");
  EXPECT_EQ(gate->source.kind, "headers");
  EXPECT_THAT(gate->note, HasSubstr("the publisher says \"softplus, per head, before o_proj\" (model card)"));
}

TEST(FactsOfOthers, TheEnvelopeIsPartOfThePointer) {
  const Json inner = config_of_shape("s-2.1");
  Json config = {{"architectures", {"LagunaForConditionalGeneration"}}, {"model_type", "laguna"}, {"text_config", inner}, {"vocab_size", 7}};
  config["text_config"].erase("rms_norm_eps");
  config["rms_norm_eps"] = 1e-06;
  const FactsUnderTest found = facts_of_config(config);
  EXPECT_EQ(found.id, "laguna-s-2.1");
  EXPECT_EQ(found.source("shape.d_model"), "config /text_config/hidden_size");
  EXPECT_EQ(found.source("shape.vocab"), "config /text_config/vocab_size");
  EXPECT_EQ(found.value("shape.vocab"), 100352);
  EXPECT_EQ(found.source("norm.epsilon"), "config /rms_norm_eps");
  EXPECT_EQ(found.source("attn.local_heads"), "config /text_config/num_attention_heads_per_layer/1");
  EXPECT_EQ(found.source("attn.rope_theta"), "config /text_config/rope_parameters/full_attention/rope_theta");
}

TEST(FactsOfOthers, KeysThatAreMissingAreClassDefaults) {
  Json config = config_of_shape("xs-2.1");
  for (const char* key : {"hidden_size", "rms_norm_eps", "moe_routed_scaling_factor", "hidden_act", "head_dim", "sliding_window", "rope_parameters"})
    config.erase(key);
  const FactsUnderTest found = facts_of_config(config);
  EXPECT_EQ(found.source("shape.d_model"), "model code class default of `hidden_size`");
  EXPECT_EQ(found.value("shape.d_model"), 2048);
  EXPECT_EQ(found.value("norm.epsilon"), 1e-06);
  EXPECT_EQ(found.value("moe.routed_scaling_factor"), 1);
  EXPECT_EQ(found.source("attn.window"), "model code class default of `sliding_window`");
  EXPECT_EQ(found.value("attn.window"), 512);
  EXPECT_EQ(found.source("ffn.activation"), "model code silu(gate) x up");
  EXPECT_EQ(found.value("attn.rope_theta"), 500000);
  EXPECT_EQ(found.source("attn.rope_theta"), "model code class default of `rope_theta`");
  EXPECT_EQ(found.value("attn.local_rope_theta"), 10000);
  EXPECT_EQ(found.value("attn.rotary_fraction"), 0.5);
  EXPECT_EQ(found.value("context.extension"), "none");
}

TEST(FactsOfOthers, ASlidingRopeOfItsOwnIsCited) {
  Json config = config_of_shape("s-2.1");
  config["swa_rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 20000.0}, {"partial_rotary_factor", 0.25}};
  const FactsUnderTest found = facts_of_config(config);
  EXPECT_EQ(found.value("attn.local_rope_theta"), 20000);
  EXPECT_EQ(found.source("attn.local_rope_theta"), "config /swa_rope_parameters/rope_theta");
  EXPECT_EQ(found.value("attn.positions"), "partial RoPE 50 % (global), partial RoPE 25 % (SWA)");
}

LayoutText layout(std::string_view kinds) {
  std::vector<LayerConfig> layers(kinds.size());
  for (size_t at = 0; at < kinds.size(); ++at) layers[at].attention = kinds[at] == 'S' ? AttentionKind::sliding : AttentionKind::full;
  return layout_of(layers);
}

TEST(FactsLayout, IsInferredFromTheLayers) {
  EXPECT_EQ(layout("F").text, "all global");
  EXPECT_EQ(layout("SSS").text, "all SWA");
  EXPECT_EQ(layout("FSFS").text, "1 global : 1 SWA, starting with global");
  EXPECT_EQ(layout("FSSSFSSS").text, "1 global : 3 SWA, starting with global");
  EXPECT_EQ(layout("FSSSFSSS").note, "inferred: the pattern repeats 2 times");
  EXPECT_EQ(layout("SSSSSFSSSSSF").text, "1 global : 5 SWA, starting with SWA");
  EXPECT_EQ(layout("FFSFFSFFS").text, "2 global : 1 SWA, starting with global");
  EXPECT_EQ(layout("SSFSSSFS").text, "1 global : 3 SWA, starting with SWA");
  EXPECT_THAT(layout("SSFSSSFS").note, HasSubstr("beginning with 2 of 3"));
  EXPECT_EQ(layout("FSSFSSF").text, "1 global : 2 SWA, starting with global");
  EXPECT_THAT(layout("FSSFSSF").note, HasSubstr("then 1 of its 3 layers"));
  EXPECT_EQ(layout("FSSSFS").text, "1 global : 3 SWA, starting with global");
  EXPECT_EQ(layout("FSSSFS").note, "inferred: the pattern stands there once, then 2 of its 4 layers");
  EXPECT_EQ(layout("FSFSSFSFSS").text, "1 global : 1 SWA : 1 global : 2 SWA, starting with global");
}

TEST(FactsLayout, WhatDoesNotRepeatIsIrregular) {
  EXPECT_EQ(layout("FSSFSFF").text, "irregular: 4 global, 3 SWA");
  EXPECT_EQ(layout("FSFSSF").text, "irregular: 3 global, 3 SWA");
  EXPECT_EQ(layout("FSSS").text, "1 global : 3 SWA, starting with global");
  EXPECT_EQ(layout("SSF").text, "1 global : 2 SWA, starting with SWA");
}

}  // namespace
}  // namespace lagoon
