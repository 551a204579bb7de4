// Bytes of the KV cache for each way to store it, by hand.
#include "facts_cases.h"

#include "planning/kv_cost.h"
#include "support/error_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lagoon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::config_of_shape;
using testing_support::expect_error;
using testing_support::facts_of_spec;
using testing_support::FactsUnderTest;

ModelConfig s21() { return read_model_config(config_of_shape("s-2.1"), "config.json"); }

TEST(FactsKv, Bf16IsTwoBytesANumber) {
  const KvCost cost = kv_cost(s21(), {131072, KvStorage::bf16});
  EXPECT_EQ(cost.position_bytes, 2u * 8 * 128 * 2);
  EXPECT_EQ(cost.global_token_bytes, 49152u);
  EXPECT_EQ(cost.bytes, 6517948416u);
  EXPECT_EQ(cost.bytes_per_token(), 49728.0);
}

TEST(FactsKv, Fp8CountsTheScalesOfLayersOnce) {
  const KvCost cost = kv_cost(s21(), {131072, KvStorage::fp8});
  EXPECT_EQ(cost.position_bytes, 2u * 8 * 128);
  EXPECT_EQ(cost.scale_bytes, 48u * 2 * 2);
  EXPECT_EQ(cost.bytes, 12ull * 2048 * 131072 + 36ull * 2048 * 512 + 192);
  EXPECT_EQ(cost.bytes_per_token(), 24864.0);

  const FactsUnderTest found = facts_of_spec("s-2.1:4/64", {131072, KvStorage::fp8});
  EXPECT_EQ(found.value("kv.bytes_at_context"), 3258974400);
  EXPECT_EQ(found.value("kv.bytes_per_token"), 24864);
  EXPECT_EQ(found.value("kv.global_bytes_per_token"), 24576);
  EXPECT_EQ(found.value("kv.bytes_at_context_per_billion_active"), 3258974400 / 8);
}

TEST(FactsKv, GroupsHaveAScaleAndABias) {
  // 128 numbers are two groups of 64: 128 or 64 bytes of codes and 2 x 4 of scales and biases.
  EXPECT_EQ(kv_cost(s21(), {131072, KvStorage::q8}).position_bytes, 2u * 8 * 136);
  EXPECT_EQ(kv_cost(s21(), {131072, KvStorage::q4}).position_bytes, 2u * 8 * 72);
  const FactsUnderTest found = facts_of_spec("s-2.1:4/64", {131072, KvStorage::q4});
  EXPECT_EQ(found.value("kv.global_bytes_per_token"), 12 * 1152);
  EXPECT_EQ(found.value("kv.bytes_at_context"), int64_t{12} * 1152 * 131072 + 36 * 1152 * 512);
  EXPECT_THAT(found.at("kv.global_bytes_per_token").definition, HasSubstr("16-bit scale and bias for each group of 64"));
}

TEST(FactsKv, GroupsOf32WhereTheHeadAsksForThem) {
  ModelConfig config = s21();
  config.head_dim = 96;  // three groups of 32
  EXPECT_EQ(kv_cost(config, {1, KvStorage::q8}).position_bytes, 2u * 8 * (96 + 12));
  EXPECT_EQ(kv_cost(config, {1, KvStorage::q4}).position_bytes, 2u * 8 * (48 + 12));
  config.head_dim = 80;  // the third group is half empty
  EXPECT_EQ(kv_cost(config, {1, KvStorage::q8}).position_bytes, 2u * 8 * (96 + 12));
  EXPECT_EQ(kv_cost(config, {1, KvStorage::bf16}).position_bytes, 2u * 8 * 160);
  config.head_dim = 16;
  EXPECT_EQ(kv_cost(config, {1, KvStorage::q4}).position_bytes, 2u * 8 * (16 + 4));
}

TEST(FactsKv, StorageIsDescribedForTheHead) {
  EXPECT_EQ(describe(KvStorage::q8, 128), "q8: 8 bits a number, with a 16-bit scale and bias for each group of 64, 8.5 bits in all");
  EXPECT_EQ(describe(KvStorage::q4, 128), "q4: 4 bits a number, with a 16-bit scale and bias for each group of 64, 4.5 bits in all");
  EXPECT_EQ(describe(KvStorage::q4, 32), "q4: 4 bits a number, with a 16-bit scale and bias for each group of 32, 5 bits in all");
}

TEST(FactsKv, ShortContextsDoNotFillTheRings) {
  const KvCost cost = kv_cost(s21(), {100, KvStorage::bf16});
  EXPECT_EQ(cost.window, 100u);
  EXPECT_EQ(cost.bytes, 48u * 4096 * 100);
  const FactsUnderTest found = facts_of_spec("s-2.1:4/64", {1000, KvStorage::bf16});
  EXPECT_EQ(found.value("kv.bytes_per_token").get<double>(), (49152.0 * 1000 + 147456.0 * 512) / 1000);
}

TEST(FactsKv, TheContextIsTheCheckpointsWhereThatIsShort) {
  ModelConfig config = s21();
  config.max_context = 4096;
  EXPECT_EQ(kv_cost(config, {}).context, 4096u);
  EXPECT_EQ(kv_cost(s21(), {}).context, 131072u);
  const FactsUnderTest found = facts_of_spec("xs-2.1:4/64", {uint64_t{1} << 20, KvStorage::bf16});
  EXPECT_THAT(found.note("kv.bytes_at_context"), HasSubstr("the checkpoint is made for 262,144 tokens"));
}

TEST(FactsKv, SizesNeverOverflow) {
  const KvCost largest = kv_cost(s21(), {kv_most_context, KvStorage::bf16});
  EXPECT_EQ(largest.bytes, 49152 * kv_most_context + 147456ull * 512);
  ModelConfig config = s21();
  config.kv_heads = 1 << 14;
  config.layers.resize(1024);
  expect_error([&] { (void)kv_cost(config, {kv_most_context, KvStorage::bf16}); }, ErrorKind::invalid, {"--context", "2^62"});
  expect_error([&] { (void)kv_cost(config, {kv_most_context + 1, KvStorage::bf16}); }, ErrorKind::invalid, {"--context", "2^40"});
}

TEST(FactsKv, ContextsAreReadInThousands) {
  EXPECT_EQ(parse_context("131072", "--context"), 131072u);
  EXPECT_EQ(parse_context("128k", "--context"), 131072u);
  EXPECT_EQ(parse_context("1M", "--context"), 1048576u);
  EXPECT_THAT(parse_contexts("4k,32k,1M", "--contexts"), ElementsAre(4096u, 32768u, 1048576u));
  for (const char* text :
       {"", "0", "-1", "k", "1K", "1.5k", "4k ", "99999999999999999999", "1099511627777", "2000000000k", "18446744073709551615M", "0x10"})
    expect_error([&] { (void)parse_context(text, "--context"); }, ErrorKind::invalid, {"--context", "1 to 2^40"});
  for (const char* text : {",", "4k,", ",4k", "4k,,8k"})
    expect_error([&] { (void)parse_contexts(text, "--contexts"); }, ErrorKind::invalid, {"--contexts"});
}

TEST(FactsKv, UsualContextsEndWithTheCheckpoint) {
  ModelConfig config = s21();
  EXPECT_THAT(usual_contexts(config), ElementsAre(4096u, 8192u, 16384u, 32768u, 65536u, 131072u, 262144u, 1048576u));
  config.max_context = 10000;
  EXPECT_THAT(usual_contexts(config), ElementsAre(4096u, 8192u));
  config.max_context = 100;
  EXPECT_THAT(usual_contexts(config), ElementsAre(100u));
  EXPECT_EQ(short_context(131072), "128k");
  EXPECT_EQ(short_context(1048576), "1M");
  EXPECT_EQ(short_context(1000), "1,000");
}

}  // namespace
}  // namespace lagoon
