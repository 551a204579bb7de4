#include "checkpoint/model_config.h"

#include "support/checkpoint_builder.h"
#include "support/error_matchers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lagoon {
namespace {

using testing_support::expect_error;

/// config.json of the builder's model: layers full and dense, sliding, full; 4, 6 and 4 heads of 32.
Json base() {
  static const Json config = testing_support::CheckpointBuilder().config;
  return config;
}

ModelConfig read(const Json& config) { return read_model_config(config, "config.json"); }

void expect_refused(const Json& config, ErrorKind kind, const std::vector<std::string>& parts) {
  expect_error([&] { read(config); }, kind, parts);
}

Json with(const std::string& key, const Json& value) {
  Json config = base();
  config[key] = value;
  return config;
}

Json without(const std::string& key) {
  Json config = base();
  config.erase(key);
  return config;
}

TEST(ModelConfig, ReadsEveryKeyOfAPublishedConfig) {
  const ModelConfig model = read(base());
  EXPECT_EQ(model.vocabulary, 48);
  EXPECT_EQ(model.hidden, 64);
  EXPECT_EQ(model.head_dim, 32);
  EXPECT_EQ(model.kv_heads, 2);
  EXPECT_EQ(model.dense_width, 128);
  EXPECT_EQ(model.expert_width, 64);
  EXPECT_EQ(model.experts, 4);
  EXPECT_EQ(model.experts_per_token, 2);
  EXPECT_EQ(model.sliding_window, 8);
  EXPECT_EQ(model.routed_scale, 2.5f);
  EXPECT_EQ(model.router_softcap, 0.0f);
  EXPECT_EQ(model.max_context, 1024);
  EXPECT_EQ(model.eos_ids, (std::vector<int32_t>{2, 24}));
  ASSERT_EQ(model.layer_count(), 3);
  EXPECT_TRUE(model.layers[0].dense);
  EXPECT_FALSE(model.layers[1].dense);
  EXPECT_EQ(model.layers[1].attention, AttentionKind::sliding);
  EXPECT_EQ(model.layers[1].query_heads, 6);
  EXPECT_EQ(model.layers[2].stated_gate, GateKind::per_head);
}

// Class defaults of transformers' configuration_laguna.
TEST(ModelConfig, AbsentKeysAreTheClassDefaults) {
  const ModelConfig model = read(Json{{"model_type", "laguna"}});
  EXPECT_EQ(model.vocabulary, 100352);
  EXPECT_EQ(model.hidden, 2048);
  EXPECT_EQ(model.head_dim, 128);
  EXPECT_EQ(model.kv_heads, 8);
  EXPECT_EQ(model.dense_width, 8192);
  EXPECT_EQ(model.expert_width, 512);
  EXPECT_EQ(model.shared_width, 512);
  EXPECT_EQ(model.experts, 256);
  EXPECT_EQ(model.experts_per_token, 8);
  EXPECT_EQ(model.routed_scale, 1.0f);
  EXPECT_EQ(model.max_context, 131072);
  ASSERT_EQ(model.layer_count(), 40);
  EXPECT_TRUE(model.layers[0].dense);
  EXPECT_FALSE(model.layers[1].dense);
  EXPECT_EQ(model.layers[39].attention, AttentionKind::full);
  EXPECT_EQ(model.layers[39].query_heads, 48);
  EXPECT_FALSE(model.layers[0].stated_gate);
  EXPECT_EQ(model.sliding_window, 0);
  EXPECT_FALSE(model.full_rotary.yarn);
  EXPECT_EQ(model.full_rotary.theta, 500000.0);
  EXPECT_EQ(model.full_rotary.dimensions, 64);
  EXPECT_EQ(model.sliding_rotary.theta, 10000.0);
  EXPECT_EQ(model.sliding_rotary.dimensions, 128);
  EXPECT_TRUE(model.eos_ids.empty());
}

TEST(ModelConfig, NullIsAbsent) { EXPECT_EQ(read(with("moe_routed_scaling_factor", nullptr)).routed_scale, 1.0f); }

TEST(ModelConfig, UnknownKeysArePassedOver) { EXPECT_EQ(read(with("some_new_key", {{"a", 1}})).hidden, 64); }

TEST(ModelConfig, WholeNumbersMayBeWrittenWithAPoint) { EXPECT_EQ(read(with("hidden_size", 64.0)).hidden, 64); }

TEST(ModelConfig, TextConfigIsTheModel) {
  Json config = base();
  config.erase("eos_token_id");
  config.erase("architectures");
  const Json wrapped = {
      {"model_type", "laguna_vision"}, {"architectures", {"LagunaForConditionalGeneration"}}, {"eos_token_id", 7}, {"text_config", config}};
  const ModelConfig model = read(wrapped);
  EXPECT_EQ(model.hidden, 64);
  EXPECT_EQ(model.eos_ids, (std::vector<int32_t>{7}));
}

TEST(ModelConfig, TextConfigTakesTheTypeAroundItIfItHasNone) {
  Json config = base();
  config.erase("model_type");
  config.erase("architectures");
  EXPECT_EQ(read({{"model_type", "laguna"}, {"text_config", config}}).hidden, 64);
  expect_refused({{"model_type", "llama4"}, {"text_config", config}}, ErrorKind::unsupported, {"`model_type` is `llama4`"});
}

TEST(ModelConfig, DenseLayersComeFromTheOlderKeysToo) {
  Json config = without("mlp_layer_types");
  config["mlp_only_layers"] = {2};
  EXPECT_FALSE(read(config).layers[0].dense);
  EXPECT_TRUE(read(config).layers[2].dense);

  config.erase("mlp_only_layers");
  config["decoder_sparse_step"] = 2;
  EXPECT_TRUE(read(config).layers[0].dense);
  EXPECT_FALSE(read(config).layers[1].dense);
  EXPECT_TRUE(read(config).layers[2].dense);

  config["decoder_sparse_step"] = 1;
  EXPECT_TRUE(read(config).layers[0].dense);
  EXPECT_FALSE(read(config).layers[2].dense);
}

TEST(ModelConfig, HeadsWithoutAListAreTheSameEverywhere) {
  const ModelConfig model = read(without("num_attention_heads_per_layer"));
  EXPECT_EQ(model.layers[1].query_heads, 4);
}

TEST(ModelConfig, GatingIsReadInEverySpelling) {
  EXPECT_FALSE(read(with("gating", true)).layers[0].stated_gate);
  EXPECT_FALSE(read(without("gating")).layers[0].stated_gate);
  EXPECT_EQ(read(with("gating", "per_head")).layers[0].stated_gate, GateKind::per_head);
  EXPECT_EQ(read(with("gating", "per-element")).layers[0].stated_gate, GateKind::per_element);
  Json config = with("gating", true);
  config["gating_types"] = {"per_head", "per_head", "per-element"};
  EXPECT_EQ(read(config).layers[1].stated_gate, GateKind::per_head);
  EXPECT_EQ(read(config).layers[2].stated_gate, GateKind::per_element);
}

TEST(ModelConfig, GatingThatContradictsItsListIsRefused) {
  Json config = base();
  config["gating_types"] = {"per_head", "per_element", "per_head"};
  expect_refused(config, ErrorKind::corrupt, {"`gating` is per-head", "per-element for layer 1"});
}

TEST(ModelConfig, ModelWithoutAGateIsRefused) {
  expect_refused(with("gating", false), ErrorKind::unsupported, {"`gating` is false"});
  expect_refused(with("gating", "none"), ErrorKind::unsupported, {"`gating` is `none`"});
}

TEST(ModelConfig, WindowIsNotNeededWhereNothingSlides) {
  for (const Json& window : {Json(0), Json(nullptr)}) {
    Json config = with("sliding_window", window);
    config["layer_types"] = {"full_attention", "full_attention", "full_attention"};
    EXPECT_EQ(read(config).sliding_window, 0);
    config.erase("layer_types");
    EXPECT_EQ(read(config).layers[1].attention, AttentionKind::full);
  }
}

TEST(ModelConfig, SlidingLayerWithoutAWindowIsRefused) {
  expect_refused(with("sliding_window", 0), ErrorKind::corrupt, {"`sliding_window` is 0", "sliding layers"});
  expect_refused(with("sliding_window", nullptr), ErrorKind::corrupt, {"`sliding_window` is null"});
}

TEST(ModelConfig, AbsentWindowIsTheClassDefault) { EXPECT_EQ(read(without("sliding_window")).sliding_window, 512); }

TEST(ModelConfig, EosIsANumberOrAListOrAbsent) {
  EXPECT_EQ(read(with("eos_token_id", 2)).eos_ids, (std::vector<int32_t>{2}));
  EXPECT_TRUE(read(without("eos_token_id")).eos_ids.empty());
  expect_refused(with("eos_token_id", "2"), ErrorKind::corrupt, {"`eos_token_id` is", "whole number"});
  expect_refused(with("eos_token_id", 48), ErrorKind::corrupt, {"`eos_token_id` is 48", "from 0 to 47"});
}

struct Refusal {
  std::string key;
  Json value;
  ErrorKind kind;
  std::string reason;
};

class RefusedKey : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedKey, NamesTheKeyAndTheReason) {
  expect_refused(with(GetParam().key, GetParam().value), GetParam().kind, {"config.json: `" + GetParam().key + "`", GetParam().reason});
}

INSTANTIATE_TEST_SUITE_P(
    ModelConfig, RefusedKey,
    ::testing::Values(
        Refusal{"model_type", "lagunaa", ErrorKind::unsupported, "Lagoon runs `laguna`"},
        Refusal{"model_type", 7, ErrorKind::corrupt, "a text was needed"},
        Refusal{"architectures", {"LlamaForCausalLM"}, ErrorKind::unsupported, "`LagunaForCausalLM`"},
        Refusal{"architectures", {"DFlashLagunaForCausalLM"}, ErrorKind::unsupported, "draft model"},
        Refusal{"moe_router_use_sigmoid", false, ErrorKind::unsupported, "softmax router"},
        Refusal{"moe_router_score_func", "sqrtsoftplus", ErrorKind::unsupported, "`sigmoid`"},
        Refusal{"moe_router_score_func", "softmax", ErrorKind::unsupported, "`sigmoid`"},
        Refusal{"moe_apply_router_weight_on_input", true, ErrorKind::unsupported, "outputs of experts"},
        Refusal{"swa_attention_sink_enabled", true, ErrorKind::unsupported, "without sinks"},
        Refusal{"norm_topk_prob", false, ErrorKind::unsupported, "by their sum"},
        Refusal{"attention_bias", true, ErrorKind::unsupported, "no biases"}, Refusal{"qkv_bias", true, ErrorKind::unsupported, "no biases"},
        Refusal{"hidden_act", "gelu", ErrorKind::unsupported, "`silu`"}, Refusal{"tie_word_embeddings", true, ErrorKind::unsupported, "lm_head"},
        Refusal{"num_nextn_predict_layers", 1, ErrorKind::unsupported, "multi-token prediction"},
        Refusal{"layer_types", {"full_attention", "full_attention"}, ErrorKind::corrupt, "2 entries, `num_hidden_layers` is 3"},
        Refusal{"layer_types", {"full_attention", "chunked_attention", "full_attention"}, ErrorKind::unsupported, "`chunked_attention` for layer 1"},
        Refusal{"mlp_layer_types", {"dense"}, ErrorKind::corrupt, "1 entries"},
        Refusal{"num_attention_heads_per_layer", {4, 6}, ErrorKind::corrupt, "2 entries"},
        Refusal{"num_attention_heads_per_layer", {4, 5, 4}, ErrorKind::corrupt, "layer 1 5 query heads"},
        Refusal{"gating_types", {"per_head"}, ErrorKind::corrupt, "1 entries"},
        Refusal{"num_experts_per_tok", 5, ErrorKind::corrupt, "`num_experts` is 4"},
        Refusal{"num_experts_per_tok", 0, ErrorKind::corrupt, "from 1 to"}, Refusal{"head_dim", 31, ErrorKind::corrupt, "even"},
        Refusal{"hidden_size", 0, ErrorKind::corrupt, "from 1 to"}, Refusal{"hidden_size", -64, ErrorKind::corrupt, "from 1 to"},
        Refusal{"hidden_size", "64", ErrorKind::corrupt, "whole number"}, Refusal{"hidden_size", 64.5, ErrorKind::corrupt, "whole number"},
        Refusal{"hidden_size", true, ErrorKind::corrupt, "whole number"},
        Refusal{"hidden_size", uint64_t{1} << 63, ErrorKind::corrupt, "whole number"},
        Refusal{"num_hidden_layers", 2000000000, ErrorKind::corrupt, "from 1 to 1024"},
        Refusal{"rms_norm_eps", 0.0, ErrorKind::corrupt, "a number from"}, Refusal{"rope_parameters", 7, ErrorKind::corrupt, "an object was needed"},
        Refusal{"rope_style", "interleaved", ErrorKind::unsupported, "halves"}));

TEST(ModelConfig, DocumentThatIsNoObjectIsRefused) { expect_refused(Json::array(), ErrorKind::corrupt, {"config.json", "an object was needed"}); }

TEST(ModelConfig, DocumentThatDoesNotSayItsTypeIsRefused) { expect_refused(Json::object(), ErrorKind::unsupported, {"`model_type` is missing"}); }

TEST(ModelConfig, ExpertsAreBoundedOverAllLayers) {
  Json config = base();
  for (const char* key : {"layer_types", "mlp_layer_types", "gating_types", "num_attention_heads_per_layer", "mlp_only_layers"}) config.erase(key);
  config["rope_parameters"].erase("sliding_attention");
  config["num_hidden_layers"] = 257;
  config["num_experts"] = 256;
  EXPECT_EQ(read(config).layer_count(), 257);
  config["num_experts"] = 257;
  expect_refused(config, ErrorKind::unsupported, {"config.json: `num_experts` is 257 and 256 layers are sparse", "at most 65536 experts in all"});
}

}  // namespace
}  // namespace lagoon
