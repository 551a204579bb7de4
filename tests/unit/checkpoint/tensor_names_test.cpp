#include "checkpoint/tensor_names.h"

#include <gtest/gtest.h>

#include <set>

namespace lagoon {
namespace {

struct Case {
  std::string name;
  ModulePath path;
  Part part = Part::values;
};

const std::vector<Case> spellings = {
    {"model.embed_tokens.weight", {Module::embedding, -1, -1}},
    {"language_model.model.embed_tokens.scales", {Module::embedding, -1, -1}, Part::scales},
    {"model.language_model.embed_tokens.weight", {Module::embedding, -1, -1}},
    {"language_model.lm_head.biases", {Module::head, -1, -1}, Part::biases},
    {"model.norm.weight", {Module::final_norm, -1, -1}},
    {"model.layers.0.input_layernorm.weight", {Module::attention_norm, 0, -1}},
    {"model.layers.69.self_attn.g_proj.weight", {Module::attention_gate, 69, -1}},
    {"model.layers.0.mlp.gate_proj.weight", {Module::dense_gate, 0, -1}},
    {"model.layers.3.mlp.gate.weight", {Module::router, 3, -1}},
    {"model.layers.3.mlp.gate.proj.scales", {Module::router, 3, -1}, Part::scales},
    {"model.layers.3.mlp.experts.255.down_proj.weight", {Module::expert_down, 3, 255}},
    {"model.layers.3.mlp.experts.gate_up_proj", {Module::expert_gate_up, 3, -1}},
    {"model.layers.3.mlp.experts.down_proj", {Module::expert_down, 3, -1}},
    {"model.layers.3.mlp.switch_mlp.up_proj.biases", {Module::expert_up, 3, -1}, Part::biases},
    {"language_model.model.layers.3.mlp.switch_mlp.gate_up_proj.weight", {Module::expert_gate_up, 3, -1}},
    {"model.layers.3.mlp.shared_expert.up_proj.weight", {Module::shared_up, 3, -1}},
    {"model.layers.3.mlp.shared_experts.up_proj.weight", {Module::shared_up, 3, -1}},
    {"model.layers.3.mlp.gate.e_score_correction_bias", {Module::expert_bias, 3, -1}},
    {"model.layers.3.mlp.experts.e_score_correction_bias", {Module::expert_bias, 3, -1}},
    {"model.layers.3.mlp.e_score_correction_bias", {Module::expert_bias, 3, -1}},
};

TEST(TensorNames, EverySpellingMeansItsModule) {
  for (const Case& spelling : spellings) {
    const auto parsed = parse_tensor_name(spelling.name);
    ASSERT_TRUE(parsed) << spelling.name;
    EXPECT_EQ(parsed->path, spelling.path) << spelling.name;
    EXPECT_EQ(parsed->part, spelling.part) << spelling.name;
  }
}

TEST(TensorNames, OtherNamesMeanNothing) {
  for (const char* name :
       {"", "model", "lm_head", "lm_head.bias", "model.layers.weight", "model.layers.-1.input_layernorm.weight",
        "model.layers.01.input_layernorm.weight", "model.layers.1024.input_layernorm.weight",
        "model.layers.99999999999999999999.input_layernorm.weight", "model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.q_proj.bias",
        "model.layers.3.mlp.experts.7.gate_proj", "model.layers.3.mlp.experts..gate_proj.weight",
        "model.layers.3.mlp.gate.e_score_correction_bias.weight", "language_model.language_model.lm_head.weight", "vision_tower.patch.weight"}) {
    EXPECT_FALSE(parse_tensor_name(name)) << name;
  }
}

TEST(TensorNames, QuantizationPathsAreReadWithAndWithoutPrefixAndSuffix) {
  const ModulePath query{Module::query, 7, -1};
  for (const char* path :
       {"model.layers.7.self_attn.q_proj", "model.layers.7.self_attn.q_proj.weight", "language_model.model.layers.7.self_attn.q_proj",
        "language_model.model.layers.7.self_attn.q_proj.weight", "layers.7.self_attn.q_proj"}) {
    EXPECT_EQ(parse_module_path(path), query) << path;
  }
  EXPECT_EQ(parse_module_path("model.layers.7.mlp.gate"), parse_module_path("language_model.model.layers.7.mlp.gate.proj"));
  EXPECT_FALSE(parse_module_path("group_size"));
}

TEST(TensorNames, PublishedNamesAreReadBack) {
  for (const Case& spelling : spellings) {
    if (spelling.path.module == Module::expert_bias && spelling.part != Part::values) continue;
    const auto parsed = parse_tensor_name(published_name(spelling.path, spelling.part));
    ASSERT_TRUE(parsed) << spelling.name;
    EXPECT_EQ(parsed->path, spelling.path);
    EXPECT_EQ(parsed->part, spelling.part);
  }
}

TEST(TensorNames, KeysOfDistinctPathsAreDistinct) {
  std::set<uint64_t> keys;
  for (const Module module : {Module::embedding, Module::shared_gate_up}) {
    for (const int layer : {-1, 0, 1, 1023}) {
      for (const int expert : {-1, 0, 1, 999999999}) EXPECT_TRUE(keys.insert(ModulePath{module, layer, expert}.key()).second);
    }
  }
}

TEST(TensorNames, CacheScalesAndRotaryTablesAreIgnorableAndWeightScalesAreNot) {
  EXPECT_TRUE(is_ignorable("model.layers.0.self_attn.k_scale"));
  EXPECT_TRUE(is_ignorable("model.layers.0.self_attn.attn.v_scale"));
  EXPECT_TRUE(is_ignorable("model.layers.0.self_attn.rotary_emb.inv_freq"));
  EXPECT_FALSE(is_ignorable("model.layers.0.self_attn.k_proj.weight_scale"));
  EXPECT_FALSE(is_ignorable("model.layers.0.self_attn.k_proj.input_global_scale"));
}

TEST(TensorNames, LayerIsFoundInAnyNameOfALayer) {
  EXPECT_EQ(layer_of("model.layers.48.eh_proj.weight"), 48);
  EXPECT_EQ(layer_of("language_model.model.layers.48.x"), 48);
  EXPECT_FALSE(layer_of("layers.48.x"));
}

}  // namespace
}  // namespace lagoon
