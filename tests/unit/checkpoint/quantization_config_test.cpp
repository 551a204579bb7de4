#include "checkpoint/quantization_config.h"

#include "support/error_matchers.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace lagoon {
namespace {

using testing_support::expect_error;

QuantizationConfig read(const Json& document) { return QuantizationConfig::read(document, "config.json"); }
QuantizationConfig read_block(const Json& block) { return read({{"quantization", block}}); }

TEST(QuantizationConfig, NoBlockSaysNothing) {
  EXPECT_EQ(read(Json::object()).everywhere(), nullptr);
  EXPECT_EQ(read({{"quantization", nullptr}}).everywhere(), nullptr);
}

TEST(QuantizationConfig, TopAndEntriesAreRead) {
  const QuantizationConfig config = read_block({{"group_size", 128},
                                                {"bits", 2},
                                                {"mode", "affine"},
                                                {"model.layers.0.self_attn.q_proj", {{"bits", 5}, {"group_size", 64}}},
                                                {"lm_head", false},
                                                {"model.embed_tokens", true}});
  ASSERT_NE(config.everywhere(), nullptr);
  EXPECT_EQ(describe(*config.everywhere()), "2-bit in groups of 128");
  EXPECT_EQ(describe(*config.entry({Module::query, 0, -1})), "5-bit in groups of 64");
  EXPECT_EQ(describe(*config.entry({Module::head, -1, -1})), "not quantized");
  EXPECT_EQ(config.entry({Module::embedding, -1, -1}), nullptr);
}

TEST(QuantizationConfig, EntryWithoutAKeyLeavesThatOpen) {
  const QuantizationConfig config = read_block({{"group_size", 128}, {"bits", 2}, {"lm_head", {{"bits", 8}}}});
  EXPECT_EQ(config.entry({Module::head, -1, -1})->bits, 8);
  EXPECT_FALSE(config.entry({Module::head, -1, -1})->group);
}

TEST(QuantizationConfig, EntriesAreFoundUnderEverySpelling) {
  for (const char* path : {"model.layers.1.mlp.gate", "model.layers.1.mlp.gate.proj", "model.layers.1.mlp.gate.weight",
                           "language_model.model.layers.1.mlp.gate.proj", "language_model.model.layers.1.mlp.gate.weight"}) {
    const QuantizationConfig config = read_block({{"group_size", 64}, {"bits", 4}, {path, {{"bits", 8}, {"group_size", 64}}}});
    ASSERT_NE(config.entry({Module::router, 1, -1}), nullptr) << path;
  }
}

TEST(QuantizationConfig, TwoSpellingsOfOneModuleMustAgree) {
  const Json eight = {{"bits", 8}, {"group_size", 64}};
  const Json four = {{"bits", 4}, {"group_size", 64}};
  EXPECT_NO_THROW(read_block({{"model.layers.1.mlp.gate", eight}, {"model.layers.1.mlp.gate.proj", eight}}));
  expect_error(
      [&] {
        read_block({{"model.layers.1.mlp.gate", eight}, {"model.layers.1.mlp.gate.proj", four}});
      },
      ErrorKind::corrupt, {"model.layers.1.mlp.gate.proj", "4-bit", "`model.layers.1.mlp.gate`", "8-bit"});
}

TEST(QuantizationConfig, EntriesOfNoModuleArePassedOver) {
  EXPECT_NO_THROW(read_block({{"bits", 4}, {"group_size", 64}, {"vision_tower.patch", {{"bits", 4}, {"group_size", 64}}}}));
}

TEST(QuantizationConfig, TheTwoBlocksMustAgree) {
  const Json block = {{"group_size", 64}, {"bits", 4}};
  EXPECT_NO_THROW(read({{"quantization", block}, {"quantization_config", block}}));
  EXPECT_NO_THROW(read({{"quantization", block}, {"quantization_config", {{"bits", 4}, {"mode", "affine"}, {"group_size", 64}}}}));
  EXPECT_NE(read({{"quantization_config", block}}).everywhere(), nullptr);
  EXPECT_NE(read({{"text_config", {{"quantization", block}}}}).everywhere(), nullptr);
  expect_error(
      [&] {
        read({{"quantization", block}, {"quantization_config", {{"group_size", 64}, {"bits", 8}}}});
      },
      ErrorKind::corrupt, {"`quantization` and `quantization_config` differ"});
}

TEST(QuantizationConfig, ForeignMethodsAreNamed) {
  const std::vector<std::pair<Json, std::string>> blocks = {
      {{{"quant_method", "gptq"}, {"bits", 4}}, "GPTQ"},
      {{{"quant_method", "awq"}, {"bits", 4}}, "AWQ"},
      {{{"quant_method", "bitsandbytes"}}, "bitsandbytes"},
      {{{"quant_method", "fp8"}}, "FP8"},
      {{{"quant_method", "compressed-tensors"}, {"format", "nvfp4-pack-quantized"}}, "NVFP4"},
      {{{"quant_method", "compressed-tensors"}, {"format", "float-quantized"}}, "FP8"},
      {{{"quant_method", "compressed-tensors"}, {"format", "pack-quantized"}}, "INT4 or INT8"},
      {{{"quant_method", "somenewthing"}}, "`somenewthing`"},
  };
  for (const auto& [block, name] : blocks) {
    const Json document = {{"quantization_config", block}};
    expect_error([&document] { read(document); }, ErrorKind::unsupported, {"`quantization_config.quant_method`", name, "MLX affine"});
  }
}

TEST(QuantizationConfig, FloatingModesAreNamedWhereverTheyStand) {
  expect_error([] { read_block({{"mode", "nvfp4"}, {"bits", 4}, {"group_size", 16}}); }, ErrorKind::unsupported, {"`quantization.mode`", "NVFP4"});
  expect_error(
      [] {
        read_block({{"bits", 4}, {"group_size", 64}, {"lm_head", {{"mode", "mxfp8"}}}});
      },
      ErrorKind::unsupported, {"`quantization.lm_head.mode`", "MXFP8"});
}

TEST(QuantizationConfig, WidthsOutsideTheFormatAreNamed) {
  expect_error([] { read_block({{"bits", 7}}); }, ErrorKind::unsupported, {"`quantization.bits` is 7", "2, 3, 4, 5, 6, 8"});
  expect_error([] { read_block({{"group_size", 16}}); }, ErrorKind::unsupported, {"`quantization.group_size` is 16", "32, 64, 128"});
  expect_error([] { read_block({{"bits", "4"}}); }, ErrorKind::corrupt, {"`quantization.bits`"});
  expect_error([] { read_block("4bit"); }, ErrorKind::corrupt, {"`quantization`", "an object"});
}

TEST(QuantizationConfig, WrongTypesAndImpossibleFormatsAreNamed) {
  const auto fault = [](const Json& block, const std::string& part, ErrorKind kind = ErrorKind::corrupt) {
    expect_error([&] { read_block(block); }, kind, {part});
  };
  fault({{"group_size", 64}, {"bits", 4.0}}, "`quantization.bits` is 4.0, a whole number");
  fault({{"group_size", 64.0}, {"bits", 4}}, "`quantization.group_size` is 64.0, a whole number");
  fault({{"group_size", 64}, {"bits", 4}, {"lm_head", 3}}, "`quantization.lm_head` is 3, an object");
  fault({{"group_size", 64}, {"bits", 4}, {"lm_head", "q"}}, "`quantization.lm_head` is \"q\", an object");
  fault({{"group_size", 64}, {"bits", 4}, {"foo.bar", {{"bits", 99}}}}, "`quantization.foo.bar.bits` is 99", ErrorKind::unsupported);
  fault({{"group_size", 64}, {"bits", 4}, {"foo.bar", {{"group_size", "x"}}}}, "`quantization.foo.bar.group_size` is \"x\"");
  EXPECT_NO_THROW(read_block({{"group_size", 64}, {"bits", 4}, {"foo.bar", {{"bits", 8}}}}));
}

}  // namespace
}  // namespace lagoon
