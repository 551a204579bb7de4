// `lagoon inspect`: what a checkpoint is, in text and as JSON.
#include "base/json.h"
#include "support/checkpoint_builder.h"
#include "support/expect_refused.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::CheckpointBuilder;
using testing_support::expect_refused;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;

Json inspect(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "inspect");
  arguments.emplace_back("--json");
  const ProgramRun run = run_lagoon(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.error, "");
  return parse_json(run.output, "output");
}

TEST(Inspect, NanoInJson) {
  const Json nano = inspect({"nano"});
  EXPECT_EQ(nano.at("name"), "nano");
  EXPECT_EQ(nano.at("found_in"), "shipped");
  EXPECT_EQ(nano.at("architecture").at("layers"), 8);
  EXPECT_EQ(nano.at("architecture").at("sliding_layers"), 6);
  EXPECT_EQ(nano.at("architecture").at("full_rope").at("factor"), 8.0);
  EXPECT_EQ(nano.at("parameters").at("total"), 6958688);
  EXPECT_EQ(nano.at("parameters").at("embedding"), 1845 * 128);
  EXPECT_EQ(nano.at("parameters").at("experts"), 7 * 32 * 3 * 64 * 128);
  EXPECT_EQ(nano.at("parameters").at("active"), 6958688 - 7 * 28 * 3 * 64 * 128);
  EXPECT_EQ(nano.at("weight_bytes"), 13917824);
  EXPECT_EQ(nano.at("layers").size(), 8u);
  EXPECT_EQ(nano.at("layers")[0].at("mlp"), "dense");
  EXPECT_TRUE(nano.at("layers")[0].at("expert_format").is_null());
  EXPECT_EQ(nano.at("layers")[1].at("query_heads"), 8);
  EXPECT_EQ(nano.at("template").at("generation"), "v8");
  EXPECT_EQ(nano.at("template").at("sha256"), "61734cadf75dd72e0b11f146ca091d7b36d2510d32b3174111231ecc9e1ada4d");
  EXPECT_EQ(nano.at("tokenizer").at("sha256"), "9b7665c1204aa5f396f9e1cf0306bb81c546fcd532028a9e5f0347db58f67556");
  EXPECT_EQ(nano.at("tokenizer").at("vocabulary"), 1845);
  EXPECT_FALSE(nano.contains("tensors"));
}

TEST(Inspect, TensorsAddUpToTheWeights) {
  const Json nano = inspect({"nano", "--tensors"});
  uint64_t bytes = 0;
  for (const Json& tensor : nano.at("tensors")) bytes += tensor.at("bytes").get<uint64_t>();
  EXPECT_EQ(bytes, nano.at("weight_bytes"));
  EXPECT_EQ(nano.at("tensors").size(), 745u + 40u);
  const Json& first = nano.at("tensors")[0];
  EXPECT_EQ(first.at("name"), "model.embed_tokens");
  EXPECT_EQ(first.at("shape"), Json::array({1845, 128}));
  EXPECT_EQ(first.at("format"), "bf16");
  EXPECT_EQ(first.at("file"), "model.safetensors");
  EXPECT_TRUE(first.at("layer").is_null());
}

TEST(Inspect, TextHoldsTheSame) {
  const ProgramRun run = run_lagoon({"inspect", "nano", "--tensors"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  for (const char* part : {"LagunaForCausalLM", "6,958,688", "13,917,824 bytes", "1,845 ids", "thinking on by default", "61734cadf75d", "per head",
                           "sparse", "Worth knowing", "model.layers.3.mlp.experts.7.gate_proj  [64 x 128]  bf16  16,384 bytes  model.safetensors"})
    EXPECT_THAT(run.output, HasSubstr(part));
}

TEST(Inspect, SyntheticModelsNeedNoDisk) {
  const Json s21 = inspect({"s-2.1:s-2.1-oq4e"});
  EXPECT_EQ(s21.at("parameters").at("total"), 117561977600);
  EXPECT_EQ(s21.at("found_in"), "synthetic");
  EXPECT_TRUE(s21.at("folder").is_null());
  EXPECT_EQ(s21.at("format"), "MLX affine mixed 4,5,6,8-bit/64,128");
  EXPECT_EQ(s21.at("architecture").at("shape"), "Laguna S 2.1");
  EXPECT_EQ(s21.at("tokenizer").at("vocabulary"), 100352);
  expect_refused(run_lagoon({"inspect", "xs-9:4/64"}), "xs-9");
}

TEST(Inspect, FilesOfShardsAreNamed) {
  const TemporaryFolder folder;
  CheckpointBuilder builder;
  builder.quantize("q_proj", 4, 32);
  builder.write(folder.path(), 3);
  const Json seen = inspect({folder.path().string(), "--tensors"});
  std::vector<std::string> files;
  for (const Json& tensor : seen.at("tensors")) files.push_back(tensor.at("file"));
  EXPECT_THAT(files, testing::Contains("model-00002-of-00003.safetensors"));
  const auto query = std::find_if(seen.at("tensors").begin(), seen.at("tensors").end(),
                                  [](const Json& tensor) { return tensor.at("name") == "model.layers.0.self_attn.q_proj"; });
  ASSERT_NE(query, seen.at("tensors").end());
  EXPECT_EQ(query->at("format"), "4-bit/32");
  EXPECT_EQ(query->at("bytes"), 128 * 64 / 2 + 2 * 2 * 128 * 2);
  EXPECT_TRUE(seen.at("template").is_null());
  EXPECT_TRUE(seen.at("tokenizer").is_null());
  EXPECT_THAT(seen.at("unusual").dump(), HasSubstr("tokenizer.json is missing"));
}

TEST(Inspect, TextsThatAreBrokenAreSaidNotFatal) {
  const TemporaryFolder folder;
  CheckpointBuilder().write(folder.path());
  folder.write("tokenizer.json", "{\"x\": \"\xff\"}");
  folder.write("tokenizer_config.json", "[");
  folder.write("chat_template.jinja", "{{ \x1b");
  folder.write("generation_config.json", "7");
  const Json seen = inspect({folder.path().string()});
  EXPECT_TRUE(seen.at("tokenizer").at("vocabulary").is_null());
  EXPECT_EQ(seen.at("template").at("generation"), "not recognised");
  EXPECT_THAT(seen.at("unusual").dump(), HasSubstr("generation_config.json"));
  EXPECT_EQ(run_lagoon({"inspect", folder.path().string()}).exit_code, 0);
}

TEST(Inspect, WhatIsNoCheckpointIsRefused) {
  expect_refused(run_lagoon({"inspect"}), "MODEL");
  expect_refused(run_lagoon({"inspect", "no-such-model"}), "no-such-model");
  expect_refused(run_lagoon({"inspect", "/dev/null"}), "/dev/null");
}

}  // namespace
}  // namespace lagoon
