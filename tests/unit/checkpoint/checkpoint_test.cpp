#include "checkpoint/checkpoint.h"

#include "checkpoint/affine_format.h"
#include "support/checkpoint_builder.h"
#include "support/error_matchers.h"
#include "support/faulty_files.h"

#include <gtest/gtest.h>

#include <functional>

namespace lagoon {
namespace {

using testing_support::CheckpointBuilder;
using testing_support::expect_error;
using testing_support::Spelling;

std::string bytes_at(const Checkpoint& checkpoint, const ByteRange& range) {
  std::string bytes(range.bytes, '\0');
  checkpoint.files().at(static_cast<size_t>(range.file))->read_at(range.offset, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::string bytes_of(const Checkpoint& checkpoint, const WeightSource& source) {
  return bytes_at(checkpoint, source.values) + bytes_at(checkpoint, source.scales) + bytes_at(checkpoint, source.biases);
}

std::string concatenated(const CheckpointBuilder& builder, std::initializer_list<const char*> names) {
  std::string bytes;
  for (const char* name : names) {
    for (const testing_support::BuiltTensor& tensor : builder.tensors) {
      if (tensor.name == name) bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    }
  }
  return bytes;
}

class CheckpointOf : public ::testing::Test {
 protected:
  Checkpoint open(const CheckpointBuilder& builder, int shards = 1) {
    builder.write(folder_.path(), shards);
    return Checkpoint::open(folder_.path().string(), {}, SystemFiles());
  }
  void expect_refused(const CheckpointBuilder& builder, ErrorKind kind, const std::vector<std::string>& parts) {
    expect_error([&] { open(builder); }, kind, parts);
  }
  void expect_refused(const std::function<void(CheckpointBuilder&)>& change, ErrorKind kind, const std::vector<std::string>& parts) {
    CheckpointBuilder builder;
    change(builder);
    expect_refused(builder, kind, parts);
  }
  testing_support::TemporaryFolder folder_;
};

CheckpointBuilder quantized() {
  CheckpointBuilder builder;
  builder.quantize("mlp.experts", 3, 32)
      .quantize("self_attn", 5, 64)
      .quantize("shared_expert", 6, 32)
      .quantize("lm_head", 8, 64)
      .quantize("layers.0.mlp.down", 2, 128);
  return builder;
}

TEST_F(CheckpointOf, PublishedFormGivesEveryMatrixWithShapeFormatAndBytes) {
  const CheckpointBuilder builder;
  const Checkpoint checkpoint = open(builder);

  EXPECT_EQ(checkpoint.embedding().rows, 48);
  EXPECT_EQ(checkpoint.embedding().columns, 64);
  EXPECT_EQ(checkpoint.final_norm().rows, 1);
  EXPECT_EQ(checkpoint.final_norm().columns, 64);
  EXPECT_EQ(checkpoint.layer(0).mlp.down.columns, 128);
  EXPECT_EQ(checkpoint.layer(1).query.rows, 6 * 32);
  EXPECT_EQ(checkpoint.layer(1).gate.rows, 6);
  EXPECT_EQ(checkpoint.layer(1).query_norm.columns, 32);
  ASSERT_EQ(checkpoint.layer(1).experts.size(), 4u);
  EXPECT_EQ(checkpoint.layer(1).experts[3].down.name, "model.layers.1.mlp.experts.3.down_proj");
  EXPECT_EQ(checkpoint.layer(1).experts[3].down.format, (WeightFormat{WeightFormat::Kind::plain, ElementType::bf16, 0, 0}));
  ASSERT_TRUE(checkpoint.layer(1).expert_bias);
  EXPECT_EQ(checkpoint.layer(1).expert_bias->format.element, ElementType::f32);
  EXPECT_EQ(bytes_of(checkpoint, checkpoint.layer(1).experts[3].down), concatenated(builder, {"model.layers.1.mlp.experts.3.down_proj.weight"}));
  uint64_t bytes = 0;
  for (const testing_support::BuiltTensor& tensor : builder.tensors) bytes += tensor.bytes.size();
  EXPECT_EQ(checkpoint.weight_bytes(), bytes);
  EXPECT_EQ(checkpoint.config().layers[0].gate, GateKind::per_head);
}

TEST_F(CheckpointOf, QuantizedMatrixGivesCodesScalesAndBiases) {
  const CheckpointBuilder builder = quantized();
  const Checkpoint checkpoint = open(builder, 2);

  const WeightSource& head = checkpoint.head();
  EXPECT_EQ(head.format, (WeightFormat{WeightFormat::Kind::affine, ElementType::bf16, 8, 64}));
  EXPECT_EQ(bytes_of(checkpoint, head), concatenated(builder, {"lm_head.weight", "lm_head.scales", "lm_head.biases"}));
  EXPECT_EQ(checkpoint.layer(0).mlp.down.format.group, 128);
  EXPECT_EQ(checkpoint.layer(1).experts[0].gate.format.bits, 3);
}

/// All sources of a checkpoint in the order of the architecture, as their bytes.
std::vector<std::string> all_bytes(const Checkpoint& checkpoint) {
  std::vector<std::string> all = {bytes_of(checkpoint, checkpoint.embedding()), bytes_of(checkpoint, checkpoint.head()),
                                  bytes_of(checkpoint, checkpoint.final_norm())};
  const auto add = [&](const MlpSource& mlp) {
    for (const WeightSource* source : {&mlp.gate, &mlp.up, &mlp.down}) all.push_back(bytes_of(checkpoint, *source));
  };
  for (int at = 0; at < checkpoint.config().layer_count(); ++at) {
    const LayerSource& layer = checkpoint.layer(at);
    for (const WeightSource* source : {&layer.attention_norm, &layer.mlp_norm, &layer.query, &layer.key, &layer.value, &layer.gate, &layer.output,
                                       &layer.query_norm, &layer.key_norm, &layer.router}) {
      all.push_back(bytes_of(checkpoint, *source));
    }
    if (layer.expert_bias) all.push_back(bytes_of(checkpoint, *layer.expert_bias));
    add(layer.mlp);
    for (const MlpSource& expert : layer.experts) add(expert);
    add(layer.shared_expert);
  }
  return all;
}

TEST_F(CheckpointOf, EverySpellingGivesTheSameBytes) {
  for (const bool quantize : {false, true}) {
    const std::vector<std::string> wanted = all_bytes(open(quantize ? quantized() : CheckpointBuilder()));
    for (const Spelling spelling : {Spelling::modules, Spelling::mlx_lm, Spelling::mlx_vlm}) {
      CheckpointBuilder builder = quantize ? quantized() : CheckpointBuilder();
      builder.respell(spelling);
      const Checkpoint checkpoint = open(builder);
      EXPECT_EQ(all_bytes(checkpoint), wanted) << "spelling " << static_cast<int>(spelling) << (quantize ? ", quantized" : "");
    }
  }
}

TEST_F(CheckpointOf, PartOfATensorSaysWhichInItsName) {
  CheckpointBuilder builder;
  builder.respell(Spelling::mlx_vlm);
  const Checkpoint checkpoint = open(builder);
  EXPECT_EQ(checkpoint.layer(1).experts[2].up.name, "language_model.model.layers.1.mlp.switch_mlp.gate_up_proj[2][rows 64:128]");
  EXPECT_EQ(checkpoint.layer(1).experts[2].down.name, "language_model.model.layers.1.mlp.switch_mlp.down_proj[2]");
}

TEST_F(CheckpointOf, LayersMayBeSpelledDifferently) {
  CheckpointBuilder published;
  CheckpointBuilder stacked;
  stacked.respell(Spelling::modules);
  std::erase_if(published.tensors, [](const auto& tensor) { return tensor.name.starts_with("model.layers.2."); });
  for (const auto& tensor : stacked.tensors) {
    if (tensor.name.starts_with("model.layers.2.")) published.tensors.push_back(tensor);
  }
  EXPECT_EQ(all_bytes(open(published)), all_bytes(open(CheckpointBuilder())));
}

TEST_F(CheckpointOf, CorrectionBiasIsFoundInEachOfItsPlacesOrIsZeros) {
  const std::string published = "model.layers.1.mlp.experts.e_score_correction_bias";
  for (const char* place : {"model.layers.1.mlp.gate.e_score_correction_bias", "model.layers.1.mlp.e_score_correction_bias"}) {
    CheckpointBuilder builder;
    builder.rename(published, place);
    EXPECT_TRUE(open(builder).layer(1).expert_bias) << place;
  }
  CheckpointBuilder builder;
  builder.remove(published);
  EXPECT_FALSE(open(builder).layer(1).expert_bias);
  builder.add(published, StoredType::bf16, {4});
  EXPECT_EQ(open(builder).layer(1).expert_bias->format.element, ElementType::bf16);
}

TEST_F(CheckpointOf, GateWithAnExtraDimensionIsSqueezed) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{6, 1, 64}, {6, 64, 1}, {1, 6, 64}}) {
    CheckpointBuilder builder;
    builder.at("model.layers.1.self_attn.g_proj.weight").shape = shape;
    EXPECT_EQ(open(builder).layer(1).gate.rows, 6);
  }
}

TEST_F(CheckpointOf, OnlyTheGateIsSqueezed) {
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.at("model.layers.1.self_attn.q_proj.weight").shape = {192, 1, 64};
      },
      ErrorKind::corrupt, {"`model.layers.1.self_attn.q_proj.weight`", "[192, 1, 64]", "[192, 64] was needed"});
}

TEST_F(CheckpointOf, GateKindFollowsFromTheRowsOfItsTensor) {
  testing_support::CheckpointShape shape;
  shape.per_element_gate = true;
  CheckpointBuilder builder(shape);
  EXPECT_EQ(open(builder).config().layers[1].gate, GateKind::per_element);
  builder.config["gating"] = true;
  EXPECT_EQ(open(builder).config().layers[1].gate, GateKind::per_element);
  builder.config["gating"] = "per-head";
  expect_refused(builder, ErrorKind::corrupt, {"`model.layers.0.self_attn.g_proj.weight` has 128 rows", "per element", "config.json says per-head"});
}

TEST_F(CheckpointOf, GateOfOtherRowsIsMisshaped) {
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.remove("model.layers.1.self_attn.g_proj.weight").add("model.layers.1.self_attn.g_proj.weight", StoredType::bf16, {7, 64});
      },
      ErrorKind::corrupt, {"g_proj.weight", "[7, 64]", "[6, 64] was needed"});
}

TEST_F(CheckpointOf, HeadsOfAnotherCountThanTheTensorNameBoth) {
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.config["num_attention_heads_per_layer"] = {4, 4, 4};
      },
      ErrorKind::corrupt, {"`model.layers.1.self_attn.q_proj.weight`", "[192, 64]", "[128, 64] was needed"});
}

TEST_F(CheckpointOf, EveryFloatTypeIsRead) {
  CheckpointBuilder builder;
  builder.remove("lm_head.weight").add("lm_head.weight", StoredType::f32, {48, 64});
  builder.remove("model.norm.weight").add("model.norm.weight", StoredType::f16, {64});
  const Checkpoint checkpoint = open(builder);
  EXPECT_EQ(checkpoint.head().format.element, ElementType::f32);
  EXPECT_EQ(checkpoint.final_norm().format.element, ElementType::f16);
}

TEST_F(CheckpointOf, EveryAffineFormatIsToldFromItsShapes) {
  const CheckpointBuilder plain;
  for (const int bits : affine_bits) {
    for (const int group : affine_groups) {
      for (const StoredType scales : {StoredType::bf16, StoredType::f16, StoredType::f32}) {
        CheckpointBuilder builder = plain;
        builder.quantize("model.layers.0.mlp.down_proj", bits, group, scales);
        const WeightFormat format = open(builder).layer(0).mlp.down.format;
        EXPECT_EQ(format.bits, bits);
        EXPECT_EQ(format.group, group);
        EXPECT_EQ(lagoon::bytes_of(format.element), bits_of(scales) / 8);
      }
    }
  }
}

TEST_F(CheckpointOf, MissingTensorsAreNamedWithTheCount) {
  expect_refused([](CheckpointBuilder& builder) { builder.remove("lm_head.weight"); }, ErrorKind::corrupt,
                 {folder_.path().string(), "one tensor is missing: `lm_head.weight`", "fetch"});
  expect_refused(
      [](CheckpointBuilder& builder) {
        std::erase_if(builder.tensors, [](const auto& tensor) { return tensor.name.find("self_attn") != std::string::npos; });
      },
      ErrorKind::corrupt, {"21 tensors are missing", "`model.layers.0.self_attn.q_proj.weight`", ", ..."});
}

TEST_F(CheckpointOf, MissingScalesOfOneExpertAreNamed) {
  CheckpointBuilder builder = quantized();
  builder.remove("model.layers.1.mlp.experts.3.up_proj.scales");
  expect_refused(builder, ErrorKind::corrupt, {"one tensor is missing: `model.layers.1.mlp.experts.3.up_proj.scales`"});
}

TEST_F(CheckpointOf, MissingBiasesAreNamed) {
  CheckpointBuilder builder = quantized();
  builder.remove("lm_head.biases");
  expect_refused(builder, ErrorKind::corrupt, {"one tensor is missing: `lm_head.biases`"});
}

TEST_F(CheckpointOf, OneExpertMayBeStoredOtherwiseThanItsNeighbours) {
  CheckpointBuilder builder;
  builder.quantize("experts.0.", 4, 64).quantize("experts.1.", 4, 64).quantize("experts.2.", 4, 32);
  const Checkpoint checkpoint = open(builder);
  EXPECT_EQ(checkpoint.layer(1).experts[2].up.format.group, 32);
  EXPECT_EQ(checkpoint.layer(1).experts[3].up.format.kind, WeightFormat::Kind::plain);
}

TEST_F(CheckpointOf, TensorUnderTwoSpellingsIsNamedTwice) {
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.add("model.layers.1.mlp.gate.proj.weight", StoredType::bf16, {4, 64});
      },
      ErrorKind::corrupt, {"one tensor is present under two spellings: `model.layers.1.mlp.gate.weight` and `model.layers.1.mlp.gate.proj.weight`"});
  expect_refused([](CheckpointBuilder& builder) { builder.add("model.layers.1.mlp.gate.e_score_correction_bias", StoredType::f32, {4}); },
                 ErrorKind::corrupt, {"two spellings", "mlp.experts.e_score_correction_bias", "mlp.gate.e_score_correction_bias"});
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.add("model.layers.1.mlp.experts.down_proj", StoredType::bf16, {4, 64, 64});
      },
      ErrorKind::corrupt,
      {"4 tensors are present under two spellings", "`model.layers.1.mlp.experts.0.down_proj.weight` and `model.layers.1.mlp.experts.down_proj`"});
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.add("language_model.lm_head.weight", StoredType::bf16, {48, 64});
      },
      ErrorKind::corrupt, {"two spellings", "`language_model.lm_head.weight`"});
}

TEST_F(CheckpointOf, PrefixOnSomeTensorsOnlyIsRefused) {
  expect_refused([](CheckpointBuilder& builder) { builder.rename("model.embed_tokens.weight", "language_model.model.embed_tokens.weight"); },
                 ErrorKind::corrupt, {"`language_model.model.embed_tokens.weight` has the prefix", "has not"});
}

TEST_F(CheckpointOf, SurplusTensorsAreNamed) {
  expect_refused([](CheckpointBuilder& builder) { builder.add("model.layers.1.self_attn.sinks", StoredType::bf16, {6}); }, ErrorKind::unsupported,
                 {"one tensor belongs to no part", "`model.layers.1.self_attn.sinks`"});
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.add("model.layers.0.mlp.gate.weight", StoredType::bf16, {4, 64});
      },
      ErrorKind::unsupported, {"`model.layers.0.mlp.gate.weight`"});
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.add("model.layers.1.mlp.experts.4.up_proj.weight", StoredType::bf16, {64, 64});
      },
      ErrorKind::unsupported, {"`model.layers.1.mlp.experts.4.up_proj.weight`"});
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.add("lm_head.scales", StoredType::bf16, {48, 1});
      },
      ErrorKind::unsupported, {"`lm_head.scales`"});
}

TEST_F(CheckpointOf, IgnorableTensorsAreNoSurplus) {
  CheckpointBuilder builder;
  builder.add("model.layers.0.self_attn.k_scale", StoredType::bf16, {1}).add("model.layers.0.self_attn.attn.v_scale", StoredType::f32, {});
  builder.add("model.layers.0.self_attn.rotary_emb.inv_freq", StoredType::f32, {16});
  EXPECT_EQ(open(builder).files().size(), 1u);
}

TEST_F(CheckpointOf, SeveralKindsOfFaultAreToldTogether) {
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.remove("lm_head.weight").add("output.weight", StoredType::bf16, {48, 64});
      },
      ErrorKind::corrupt, {"one tensor is missing: `lm_head.weight`", "; also, one tensor belongs to no part", "`output.weight`"});
}

TEST_F(CheckpointOf, AnyNumberOfFaultsMakesOneShortSentence) {
  const std::string name(200, 'x');
  const std::optional<Error> error = testing_support::error_of([&] {
    CheckpointBuilder builder = quantized();
    builder.config["num_experts"] = 2000;
    builder.remove("lm_head.biases").remove("model.norm.weight").add("model.norm.weight", StoredType::f32, std::vector<int64_t>(8, 1));
    builder.config["quantization"]["model.embed_tokens"] = {{"bits", 4}, {"group_size", 64}};
    for (int at = 0; at < 3; ++at) builder.add(name + std::to_string(at), StoredType::bf16, {1});
    open(builder);
  });
  ASSERT_TRUE(error);
  const std::string sentence = error->what();
  EXPECT_LT(sentence.size() - folder_.path().string().size(), 460u) << sentence;
  EXPECT_THAT(sentence, ::testing::HasSubstr("other faults")) << sentence;
  EXPECT_EQ(sentence.find(". "), std::string::npos) << sentence;
}

TEST_F(CheckpointOf, LayersBeyondTheCountAreMultiTokenPrediction) {
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.add("model.layers.3.eh_proj.weight", StoredType::bf16, {64, 128});
      },
      ErrorKind::unsupported, {"`model.layers.3.eh_proj.weight`", "layer 3", "3 layers", "multi-token prediction"});
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.add("mtp.fc.weight", StoredType::bf16, {64, 128});
      },
      ErrorKind::unsupported, {"`mtp.fc.weight`", "multi-token prediction"});
}

TEST_F(CheckpointOf, PlainIntegersAreNoWeights) {
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.remove("lm_head.weight").add("lm_head.weight", StoredType::i8, {48, 64});
      },
      ErrorKind::corrupt, {"`lm_head.weight`", "I8 [48, 64]", "BF16, F16 or F32 was needed"});
}

TEST_F(CheckpointOf, CodesThatFitNoFormatAreMisshaped) {
  CheckpointBuilder builder = quantized();
  builder.remove("lm_head.weight").add("lm_head.weight", StoredType::u32, {48, 14});
  expect_refused(builder, ErrorKind::corrupt, {"`lm_head.weight`", "U32 [48, 14]", "[48, 1]", "64 inputs", "2, 3, 4, 5, 6, 8"});
}

TEST_F(CheckpointOf, ScalesOfOtherRowsAreMisshaped) {
  CheckpointBuilder builder = quantized();
  builder.remove("lm_head.scales").add("lm_head.scales", StoredType::bf16, {47, 1});
  expect_refused(builder, ErrorKind::corrupt, {"`lm_head.scales`", "[47, 1]", "[48, 1] was needed"});
}

TEST_F(CheckpointOf, BiasesOfAnotherTypeThanTheScalesAreMisshaped) {
  CheckpointBuilder builder = quantized();
  builder.remove("lm_head.biases").add("lm_head.biases", StoredType::f32, {48, 1});
  expect_refused(builder, ErrorKind::corrupt, {"`lm_head.biases`", "F32", "BF16 as its scales"});
}

TEST_F(CheckpointOf, ScalesOfIntegersAreNamedThemselves) {
  CheckpointBuilder builder = quantized();
  builder.remove("lm_head.scales").add("lm_head.scales", StoredType::i16, {48, 1});
  expect_refused(builder, ErrorKind::corrupt, {"one tensor has another shape", "`lm_head.scales`", "I16 [48, 1], BF16, F16 or F32 was needed"});
}

TEST_F(CheckpointOf, ZeroDimensionIsMisshaped) {
  expect_refused(
      [](CheckpointBuilder& builder) {
        builder.remove("lm_head.weight").add("lm_head.weight", StoredType::bf16, {0, 64});
      },
      ErrorKind::corrupt, {"`lm_head.weight`", "[0, 64]"});
}

TEST_F(CheckpointOf, ConfigThatAgreesWithTheHeadersIsTaken) {
  for (const char* path : {"lm_head", "lm_head.weight", "language_model.lm_head"}) {
    CheckpointBuilder builder;
    builder.quantize("self_attn", 4, 64).quantize("lm_head", 8, 32);
    builder.config["quantization"] = {{"group_size", 64}, {"bits", 4}, {"mode", "affine"}, {path, {{"bits", 8}, {"group_size", 32}}}};
    EXPECT_EQ(open(builder).head().format.bits, 8) << path;
  }
}

TEST_F(CheckpointOf, ConfigThatContradictsTheHeaderNamesBoth) {
  CheckpointBuilder builder;
  builder.quantize("lm_head", 8, 64);
  builder.config["quantization"] = {{"group_size", 32}, {"bits", 4}};
  expect_refused(builder, ErrorKind::corrupt, {"`lm_head`: the header holds 8-bit codes in groups of 64, config.json says 4-bit in groups of 32"});
  builder.config["quantization"] = {{"group_size", 64}, {"bits", 8}, {"lm_head", {{"bits", 8}, {"group_size", 32}}}};
  expect_refused(builder, ErrorKind::corrupt, {"groups of 64", "8-bit in groups of 32 (`lm_head`)"});
  builder.config["quantization"] = {{"group_size", 64}, {"bits", 8}, {"lm_head", false}};
  expect_refused(builder, ErrorKind::corrupt, {"8-bit codes", "config.json says not quantized (`lm_head`)"});
}

TEST_F(CheckpointOf, ConfigThatCallsAPlainTensorQuantizedIsRefused) {
  CheckpointBuilder builder;
  builder.config["quantization"] = {{"group_size", 64}, {"bits", 8}, {"lm_head", {{"bits", 8}, {"group_size", 64}}}};
  expect_refused(builder, ErrorKind::corrupt, {"`lm_head`: the header holds plain BF16, config.json says 8-bit"});
  builder.config["quantization"] = {{"group_size", 64}, {"bits", 8}};
  EXPECT_EQ(open(builder).head().format.kind, WeightFormat::Kind::plain);
}

TEST_F(CheckpointOf, ConfigMaySpeakOfExpertsInAnotherSpellingThanTheFile) {
  for (const char* path : {"model.layers.1.mlp.switch_mlp.gate_up_proj", "model.layers.1.mlp.experts.gate_up_proj",
                           "model.layers.1.mlp.switch_mlp.up_proj", "language_model.model.layers.1.mlp.switch_mlp.up_proj.weight"}) {
    for (const Spelling spelling : {Spelling::published, Spelling::mlx_lm}) {
      CheckpointBuilder builder;
      builder.quantize("mlp.experts", 4, 64).respell(spelling);
      builder.config["quantization"] = {{"group_size", 64}, {"bits", 4}, {path, {{"bits", 3}, {"group_size", 64}}}};
      expect_refused(builder, ErrorKind::corrupt, {"4-bit codes in groups of 64, config.json says 3-bit", path});
      builder.config["quantization"][path]["bits"] = 4;
      EXPECT_EQ(open(builder).layer(1).experts[1].up.format.bits, 4);
    }
  }
}

TEST_F(CheckpointOf, QuantizedRouterOpensUnderBothNames) {
  for (const char* path : {"model.layers.1.mlp.gate", "model.layers.1.mlp.gate.proj"}) {
    CheckpointBuilder builder;
    builder.quantize("layers.1.mlp.gate.", 8, 64).quantize("mlp.experts", 4, 64).respell(Spelling::mlx_lm);
    builder.config["quantization"] = {{"group_size", 64}, {"bits", 4}, {path, {{"bits", 8}, {"group_size", 64}}}};
    EXPECT_EQ(open(builder).layer(1).router.format.bits, 8) << path;
  }
}

TEST_F(CheckpointOf, EveryOpeningAndReadMayFail) {
  CheckpointBuilder().write(folder_.path(), 2);
  int fault = 1;
  for (;; ++fault) {
    const testing_support::FaultyFiles files(fault);
    try {
      (void)Checkpoint::open(folder_.path().string(), {}, files);
      break;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
    }
  }
  EXPECT_EQ(fault, 11);  // config.json and the index: opening and reading; each shard: opening and two readings
}

TEST_F(CheckpointOf, ConfigThatIsAGitLfsPointerIsRecognised) {
  CheckpointBuilder().write(folder_.path());
  testing_support::write_file(folder_.path() / "config.json", "version https://git-lfs.github.com/spec/v1\n");
  expect_error([&] { (void)Checkpoint::open(folder_.path().string(), {}, SystemFiles()); }, ErrorKind::corrupt, {"config.json", "git-lfs pointer"});
}

TEST_F(CheckpointOf, BrokenConfigIsNamed) {
  CheckpointBuilder().write(folder_.path());
  for (const char* text : {"", "{", "[1]", "{\"model_type\":\"laguna\",\"model_type\":\"laguna\"}", "\xff"}) {
    testing_support::write_file(folder_.path() / "config.json", text);
    expect_error([&] { (void)Checkpoint::open(folder_.path().string(), {}, SystemFiles()); }, ErrorKind::corrupt, {"config.json"});
  }
}

}  // namespace
}  // namespace lagoon
