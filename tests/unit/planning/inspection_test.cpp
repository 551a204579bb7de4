// What is said of a checkpoint, against numbers computed by hand and what publishers state.
#include "planning/inspection.h"

#include "checkpoint/synthetic.h"
#include "planning/facts_counts.h"
#include "support/checkpoint_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lagoon {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_support::CheckpointBuilder;
using testing_support::CheckpointShape;
using testing_support::Spelling;
using testing_support::TemporaryFolder;

Checkpoint synthetic(const char* spec) { return open_synthetic(parse_synthetic_spec(spec)); }

Inspection inspect_built(const CheckpointBuilder& builder, const ModelTexts& texts = {}) {
  const TemporaryFolder folder;
  builder.write(folder.path());
  return inspect(Checkpoint::open(folder.path().string(), {}, SystemFiles()), texts);
}

TEST(PartCounts, TotalsAreThePublishedOnes) {
  const PartCounts s21 = count_parts(synthetic("s-2.1:s-2.1-oq4e"));
  EXPECT_EQ(s21.total, 117'561'977'600u);
  EXPECT_EQ(s21.of(ModelPart::embedding) + s21.of(ModelPart::head), 616'562'688u);
  EXPECT_EQ(s21.active_without_embedding, 7'832'693'504u);
  EXPECT_EQ(s21.active, 7'832'693'504u + 616'562'688u);
  EXPECT_EQ(s21.of(ModelPart::experts), uint64_t{47} * 256 * 3 * 1024 * 3072);
  EXPECT_EQ(s21.of(ModelPart::shared_experts), 47u * 3 * 1024 * 3072);
  EXPECT_EQ(s21.of(ModelPart::dense_mlp), 3u * 12288 * 3072);
  EXPECT_EQ(s21.of(ModelPart::routers), 47u * 256 * (3072 + 1));
  EXPECT_EQ(s21.of(ModelPart::norms), 97u * 3072 + 48 * 2 * 128);
  EXPECT_EQ(s21.of(ModelPart::attention), 3072u * (12 * (2 * 48 * 128 + 2 * 1024 + 48) + 36 * (2 * 72 * 128 + 2 * 1024 + 72)));
  EXPECT_EQ(count_parts(synthetic("xs-2.1:bf16")).total, 33'442'617'088u);
}

TEST(PartCounts, AgreeWithTheFactsPage) {
  for (const char* spec : {"xs-2.1:4/64", "mini:bf16", "m.1:4/64,layers=4"}) {
    const Checkpoint checkpoint = synthetic(spec);
    const PartCounts parts = count_parts(checkpoint);
    const ParameterCounts facts = count_parameters(checkpoint);
    EXPECT_EQ(parts.total, facts.total) << spec;
    EXPECT_EQ(parts.active_without_embedding, facts.active_nonembedding) << spec;
    uint64_t sum = 0;
    for (const ModelPart part : all_model_parts) sum += parts.of(part);
    EXPECT_EQ(sum, parts.total) << spec;
  }
}

TEST(PartCounts, SmallCheckpointByHand) {
  // hidden 64, vocabulary 48, heads 4 6 4 of 32, 2 KV heads, one dense layer of 128, two sparse of 4 experts of 64, 2 a token.
  const Inspection seen = inspect_built(CheckpointBuilder());
  EXPECT_EQ(seen.counts.of(ModelPart::embedding), 48u * 64);
  EXPECT_EQ(seen.counts.of(ModelPart::attention), 64u * ((4 + 6 + 4) * 32 * 2 + 3 * 2 * 2 * 32 + (4 + 6 + 4)));
  EXPECT_EQ(seen.counts.of(ModelPart::dense_mlp), 3u * 128 * 64);
  EXPECT_EQ(seen.counts.of(ModelPart::experts), 2u * 4 * 3 * 64 * 64);
  EXPECT_EQ(seen.counts.of(ModelPart::shared_experts), 2u * 3 * 64 * 64);
  EXPECT_EQ(seen.counts.of(ModelPart::routers), 2u * (4 * 64 + 4));
  EXPECT_EQ(seen.counts.of(ModelPart::norms), 7u * 64 + 3 * 2 * 32);
  EXPECT_EQ(seen.counts.total - seen.counts.active, 2u * 2 * 3 * 64 * 64);  // 2 of 4 experts stay out
  ASSERT_EQ(seen.formats.size(), 2u);
  EXPECT_EQ(seen.formats[0].format, "bf16");
  EXPECT_EQ(seen.formats[0].matrices, 2u + 3 * 5 + 3 + 2 * (1 + 4 * 3 + 3));
  EXPECT_EQ(seen.formats[0].vectors, 7u + 3 * 2);
  EXPECT_EQ(seen.formats[0].bytes, 2 * (seen.counts.total - 8));
  EXPECT_EQ(seen.formats[1].format, "f32");
  EXPECT_EQ(seen.formats[1].vectors, 2u);
  EXPECT_EQ(seen.formats[1].bytes, 4u * 8);
}

TEST(FormatShares, BytesAddUpToTheWeights) {
  for (const char* spec : {"s-2.1:s-2.1-oq4e,layers=6", "xs-2.1:3/64,layers=5", "mini:bf16"}) {
    const Checkpoint checkpoint = synthetic(spec);
    uint64_t bytes = 0;
    for (const FormatShare& share : share_formats(checkpoint)) bytes += share.bytes;
    EXPECT_EQ(bytes, checkpoint.weight_bytes()) << spec;
    uint64_t in_layers = 0;
    for (const LayerReport& layer : inspect(checkpoint, {}).layers) in_layers += layer.bytes;
    EXPECT_EQ(in_layers + checkpoint.embedding().bytes() + checkpoint.head().bytes() + checkpoint.final_norm().bytes(), bytes) << spec;
  }
}

TEST(FormatSummary, NamesBitsAndGroups) {
  EXPECT_EQ(format_summary(synthetic("mini:bf16")), "bf16");
  EXPECT_EQ(format_summary(synthetic("s-2.1:s-2.1-oq4e")), "MLX affine mixed 4,5,6,8-bit/64,128");
  // Routers are 8-bit where everything else is 4-bit, as mlx-lm converts.
  EXPECT_EQ(format_summary(synthetic("mini:4/32")), "MLX affine mixed 4,8-bit/32,64");
}

TEST(LayerReports, SayWhatEachLayerIs) {
  const Inspection seen = inspect(synthetic("s-2.1:s-2.1-oq4e,layers=3"), {});
  ASSERT_EQ(seen.layers.size(), 3u);
  EXPECT_EQ(seen.layers[0].attention, "full");
  EXPECT_EQ(seen.layers[0].mlp, "dense");
  EXPECT_EQ(seen.layers[0].query_heads, 48);
  EXPECT_EQ(seen.layers[0].kv_heads, 8);
  EXPECT_EQ(seen.layers[0].gate, "per head");
  EXPECT_EQ(seen.layers[0].mlp_format, "5-bit/64 6-bit/64");
  EXPECT_EQ(seen.layers[0].expert_format, "");
  EXPECT_EQ(seen.layers[1].attention, "sliding");
  EXPECT_EQ(seen.layers[1].query_heads, 72);
  EXPECT_EQ(seen.layers[1].attention_format, "5-bit/64");
  EXPECT_EQ(seen.layers[1].mlp_format, "8-bit/128");
  EXPECT_EQ(seen.layers[1].expert_format, "4-bit/128");
  EXPECT_EQ(seen.layers[1].router_format, "bf16");
  EXPECT_EQ(seen.layers[2].attention_format, "8-bit/64");
  EXPECT_EQ(inspect(synthetic("m.1:bf16,layers=1"), {}).layers[0].gate, "per element");
}

TEST(ExpertStorage, IsToldFromNames) {
  const auto stored = [](Spelling spelling) { return inspect_built(CheckpointBuilder().respell(spelling)).expert_storage; };
  EXPECT_EQ(stored(Spelling::published), "singly, gate and up apart");
  EXPECT_EQ(stored(Spelling::mlx_lm), "stacked, gate and up apart");
  EXPECT_EQ(stored(Spelling::modules), "stacked, gate and up fused");
  EXPECT_EQ(stored(Spelling::mlx_vlm), "stacked, gate and up fused");
}

class Unusual : public ::testing::Test {
 protected:
  std::vector<std::string> things() const { return inspect_built(builder_, texts_).unusual; }
  void expect_said(const std::string& part) const { EXPECT_THAT(things(), Contains(HasSubstr(part))); }
  void expect_unsaid(const std::string& part) const { EXPECT_THAT(things(), Not(Contains(HasSubstr(part)))); }
  CheckpointBuilder builder_;
  ModelTexts texts_;
};

TEST_F(Unusual, PublishedModelsHaveLittle) {
  const auto things = inspect(synthetic("xs-2.1:bf16"), {}).unusual;
  for (const char* part : {"no published", "leaves out", "YaRN factor", "attention_factor", "experts' bias", "router", "group", "language_model"})
    EXPECT_THAT(things, Not(Contains(HasSubstr(part))));
  EXPECT_THAT(things, Contains(HasSubstr("hidden_size is 2,048")));
}

TEST_F(Unusual, ContextAndAttentionFactor) {
  expect_said("YaRN factor 8 over 64 original tokens reaches 512 positions, max_position_embeddings is 1,024");
  builder_.config["max_position_embeddings"] = 512;
  expect_unsaid("reaches");
  expect_unsaid("attention_factor");
  builder_.config["rope_parameters"]["full_attention"]["attention_factor"] = 1.0;
  expect_said("attention_factor is 1, 0.1 ln(8) + 1 would be 1.20794");
  builder_.config["rope_parameters"]["full_attention"] = {{"rope_type", "default"}, {"rope_theta", 500000.0}};
  expect_said("plain rope");
}

TEST_F(Unusual, VariantsOfOneModelAreNamed) {
  EXPECT_THAT(inspect(synthetic("s-2.1:s-2.1-oq4e"), {}).unusual, Contains(HasSubstr("1M variant of S-2.1 (YaRN factor 128 over 8,192")));
}

TEST_F(Unusual, KeysThatAreLeftOut) {
  expect_unsaid("leaves out");
  builder_.config.erase("moe_routed_scaling_factor");
  builder_.config["rms_norm_eps"] = nullptr;
  builder_.config["gating"] = true;
  builder_.config.erase("max_position_embeddings");
  expect_said("leaves out `max_position_embeddings`; the class defaults");
  expect_said("`rms_norm_eps` is missing; 1e-06 is taken");
  expect_said("`moe_routed_scaling_factor` is missing; 1.0 is taken");
  expect_said("rows of g_proj say one per head");
  builder_.config["moe_router_logit_softcapping"] = 30.0;
  expect_said("capped at 30");
}

TEST_F(Unusual, ExpertBias) {
  expect_unsaid("experts' bias");
  builder_.remove("model.layers.2.mlp.experts.e_score_correction_bias");
  expect_said("is missing in layer 2; it counts as zero");
  auto& bias = builder_.at("model.layers.1.mlp.experts.e_score_correction_bias");
  bias.type = StoredType::bf16;
  bias.bytes.resize(bias.bytes.size() / 2);
  expect_said("is stored as bf16 in layer 1");
}

TEST_F(Unusual, QuantizedRoutersAndMixedGroups) {
  builder_.quantize("q_proj", 4, 32).quantize("mlp.gate.", 8, 64);
  expect_said("router is quantized (8-bit/64) in layers 1, 2");
  expect_said("group sizes are mixed: 32, 64");
}

TEST_F(Unusual, ScalesInAnotherType) {
  builder_.quantize("q_proj", 4, 32, StoredType::f16);
  expect_said("scales and biases of quantized matrices are f16");
}

TEST_F(Unusual, PrefixAndTensorsBeside) {
  builder_.add("model.layers.0.self_attn.k_scale", StoredType::bf16, {1}).add("model.layers.0.self_attn.v_scale", StoredType::bf16, {1});
  expect_said("2 tensors beside the weights are not used, such as `model.layers.0.self_attn.k_scale`");
  builder_ = CheckpointBuilder();
  expect_unsaid("language_model.");
  builder_.respell(Spelling::mlx_vlm);
  expect_said("names begin with `language_model.`");
}

TEST_F(Unusual, EndIds) {
  texts_.generation_config = R"({"eos_token_id": [24, 2]})";
  expect_unsaid("eos_token_id");
  texts_.generation_config = R"({"eos_token_id": 2})";
  expect_said("eos_token_id is 2 in generation_config.json and 2, 24 in config.json");
  builder_.config.erase("eos_token_id");
  expect_said("config.json names no eos_token_id");
  texts_.generation_config = "{";
  expect_said("generation_config.json");
}

TEST_F(Unusual, TextsThatAreMissingOrBroken) {
  expect_said("tokenizer.json is missing");
  expect_said("there is no chat template");
  texts_.tokenizer = "{}";
  texts_.chat_template = "{% for";
  texts_.problems = {"tokenizer_config.json: cannot be read"};
  expect_said("tokenizer.json");
  expect_said("the chat template is not recognised");
  expect_said("tokenizer_config.json: cannot be read");
}

TEST_F(Unusual, TemplatesInTwoPlaces) {
  texts_.chat_template = "a";
  texts_.tokenizer_config = R"({"chat_template": "a"})";
  expect_unsaid("another chat template");
  texts_.tokenizer_config = R"({"chat_template": "b"})";
  expect_said("another chat template than chat_template.jinja, which counts");
  texts_.tokenizer_config = R"({"chat_template": "{% include 'chat_template.jinja' %}"})";
  expect_said("tokenizer_config.json holds a stub");
  texts_.chat_template.reset();
  expect_said("and there is no such file");
}

TEST_F(Unusual, EnvelopesAreNamed) {
  Json inner = builder_.config;
  builder_.config = {{"architectures", {"LagunaForConditionalGeneration"}}, {"model_type", "laguna"}, {"text_config", inner}};
  expect_said("envelope");
  expect_unsaid("leaves out");
}

TEST(InlinedTemplate, IsTakenAsTheTextLayerTakesIt) {
  EXPECT_EQ(inlined_template(R"({"chat_template": "x"})"), "x");
  EXPECT_EQ(inlined_template(R"({"chat_template": [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]})"), "d");
  for (const char* text :
       {"", "{", "[]", "7", "{}", R"({"chat_template": 7})", R"({"chat_template": null})", R"({"chat_template": {"name": "default"}})",
        R"({"chat_template": [7, {"name": "default"}, {"name": 1, "template": "x"}, {"name": "default", "template": 1}]})"})
    EXPECT_EQ(inlined_template(text), std::nullopt) << text;
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace lagoon
