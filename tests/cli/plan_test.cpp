// lagoon plan, and the plan that every command obeys.
#include "base/byte_size.h"
#include "base/json.h"
#include "support/expect_refused.h"
#include "support/memory_case.h"
#include "support/run_program.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <map>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::expect_refused;
using testing_support::MemoryCase;
using testing_support::MemoryOutcome;
using testing_support::ProgramRun;
using testing_support::run_for_json;
using testing_support::run_lagoon;
using testing_support::run_memory_case;
using testing_support::TemporaryFolder;

constexpr uint64_t gib = uint64_t{1} << 30;

Json plan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  arguments.emplace_back("--json");
  return run_for_json(arguments);
}

std::map<std::string, uint64_t> lines_of(const Json& plan) {
  std::map<std::string, uint64_t> lines;
  for (const Json& line : plan.at("lines")) lines[line.at("name")] = line.at("bytes").get<uint64_t>();
  return lines;
}

TEST(Plan, SumsItsLinesAndAnswersTheNextQuestions) {
  const Json json = plan({"nano", "--context", "1000", "--sequences", "2"});
  uint64_t sum = 0;
  for (const auto& [name, bytes] : lines_of(json)) sum += bytes;
  EXPECT_EQ(json.at("total_bytes"), sum);
  EXPECT_EQ(json.at("fits"), true);
  EXPECT_EQ(json.at("largest_context"), 4096);
  EXPECT_GT(json.at("largest_sequences"), 100);
  EXPECT_TRUE(json.at("limit").is_string());
  const std::string text = run_lagoon({"plan", "nano", "--explain"}).output;
  for (const char* part : {"weights: experts", "KV: full layers", "tokenizer and template", "runtime", "total",
                           "What binds: ", "It fits: ", "Largest context that fits", "pages of 128 tokens"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Plan, KnowsArtifactsThatAreNotHere) {
  for (const char* name : {"mlx-community/Laguna-S-2.1-oQ4e", "s-2.1-oq4e", "S-2.1-OQ4E"}) {
    const Json json = plan({name, "--machine-memory", "128GiB", "--reserve", "16GiB", "--context", "32768"});
    EXPECT_EQ(json.at("artifact").at("weight_bytes"), 64'122'027'323u);
    EXPECT_EQ(lines_of(json).at("KV: full layers"), 49'152u * 32'768u);
    EXPECT_EQ(json.at("available_bytes"), 128 * gib);
    EXPECT_EQ(json.at("reserve_bytes"), 16 * gib);
    EXPECT_EQ(json.at("limit"), "--machine-memory");
    EXPECT_EQ(json.at("fits"), true);
    EXPECT_EQ(json.at("largest_context"), 1'048'576);
  }
  const Json small = plan({"s-2.1-oq4e", "--machine-memory", "48GiB"});
  EXPECT_EQ(small.at("fits"), false);
  EXPECT_EQ(small.at("largest_context"), 0);
  EXPECT_THAT(small.at("advice").dump(), HasSubstr("Laguna-S-2.1-oQ2e-fast"));
  ASSERT_FALSE(small.at("alternatives").empty());
  for (const Json& other : small.at("alternatives")) EXPECT_NE(other.at("name"), "s-2.1-oq4e");

  expect_refused(run_lagoon({"plan", "poolside/Laguna-S-2.1-NVFP4"}), "NVFP4");
  const std::string list = run_lagoon({"plan", "--artifacts"}).output;
  for (const char* part : {"64,122,027,323", "34,736,172,776", "11,751,261,776", "66,147,556,864", "71,898,733,760"})
    EXPECT_THAT(list, HasSubstr(part));
}

// Names of what is not on this machine: short ones, in any case, with a revision, nearly right, behind an alias.
TEST(Plan, FindsWhatIsMeantAndSuggestsWhatIsNear) {
  const auto kind_of = [](const std::string& name) { return run_for_json({"facts", name, "--format", "json"}).at("model").at("kind"); };
  for (const char* name : {"s-2.1-oQ4E", "Laguna-S-2.1-oQ4e", "mlx-community/Laguna-S-2.1-oQ4e@8e3f5cad", "s-2.1-oq4", "s-2.1-fp8", "s-2.1-oq3e"})
    EXPECT_EQ(kind_of(name), "artifact") << name;
  for (const char* name : {"laguna-s-2.1", "Laguna-S-2.1", "LAGUNA-M.1"}) EXPECT_EQ(kind_of(name), "published") << name;
  EXPECT_EQ(kind_of("s-2.1:4/64,layers=2"), "synthetic");
  expect_refused(run_lagoon({"facts", "laguna-s-2.2"}), "did you mean `Laguna-S-2.1`");
  expect_refused(run_lagoon({"plan", "s-2.1-0q4e"}), "did you mean `s-2.1-oq4e`");
  expect_refused(run_lagoon({"facts", "s-2.1"}), "write more of the name");
  expect_refused(run_lagoon({"plan", "mlx-community/Laguna-S-2.1-oQ4e@999"}), "leave the revision out");
  expect_refused(run_lagoon({"plan", "s-2.1-fp8"}), "FP8");

  const TemporaryFolder folder;
  folder.write("config.json", R"({"models": {"mine": {"model": "s-2.1-oq4e", "revision": "8e3f"}, "n": {"model": "nano", "model_type": "laguna"}}})");
  const std::vector<std::string> environment = {"LAGOON_CONFIG=" + folder.path().string() + "/config.json"};
  EXPECT_THAT(run_lagoon({"plan", "mine"}, {.environment = environment}).output, HasSubstr("mine = mlx-community/Laguna-S-2.1-oQ4e"));
  EXPECT_THAT(run_lagoon({"facts", "n"}, {.environment = environment}).output, HasSubstr("model_type laguna"));
  EXPECT_THAT(run_lagoon({"generate", "n", "hi", "--max-tokens", "1"}, {.environment = environment}).error, HasSubstr("n = nano"));
}

TEST(Plan, ArtifactsOfTheUserCountAndHostileOnesAreRefused) {
  const TemporaryFolder folder;
  folder.write("config.json", "{}");
  folder.write("artifacts/mine.json",
               R"({"repository": "me/Mine", "model": "xs-2.1", "format": "three bits", "formats": {"default": "3/64"}, "source": "me"})");
  const std::vector<std::string> environment = {"LAGOON_CONFIG=" + folder.path().string() + "/config.json"};
  const ProgramRun run = run_lagoon({"plan", "mine", "--json"}, {.environment = environment});
  ASSERT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(parse_json(run.output, "output").at("model"), "me/Mine");

  for (
      const auto& [text, part] : std::map<std::string, std::string>{
          {"[", "mine.json"},
          {"[]", "mine.json"},
          {R"({"repository": "a/b"})", "`model`"},
          {R"({"repository": "a/b", "model": "xl", "format": "x", "formats": {"default": "3/64"}, "source": "me"})", "xl"},
          {R"({"repository": "a/b", "model": "xs-2.1", "format": "x", "formats": {"default": "7/64"}, "source": "me"})", "7/64"},
          {R"({"repository": "a/b", "model": "xs-2.1", "format": "x", "formats": {"default": "4/64", "rules": [{"parts": ["ears"], "format": "4/64"}]}, "source": "me"})",
           "ears"},
          {R"({"repository": "a/b", "model": "xs-2.1", "format": "x", "formats": {"default": "4/64", "rules": [{"parts": ["head"], "layers": "9-3", "format": "4/64"}]}, "source": "me"})",
           "9-3"},
          {R"({"repository": "a/b", "model": "xs-2.1", "format": "x", "formats": {"default": "4/64"}, "source": "me", "weight_bytes": -1})",
           "weight_bytes"},
          {R"({"repository": "a/b", "model": "xs-2.1", "format": "x", "source": "me"})", "`reason`"},
          {R"({"repository": "a/b", "model": "xs-2.1", "format": "x", "formats": {"default": "4/64"}, "source": "me", "colour": 1})", "colour"},
      }) {
    folder.write("artifacts/mine.json", text);
    const ProgramRun refused = run_lagoon({"plan", "mine"}, {.environment = environment});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.output, "");
    EXPECT_THAT(refused.error, HasSubstr("lagoon: passed over: "));
    EXPECT_THAT(refused.error, HasSubstr(part));
    EXPECT_EQ(run_lagoon({"plan", "s-2.1-oq4e"}, {.environment = environment}).exit_code, 0);  // the others count
  }
}

TEST(Plan, TakesAConfigWithAMap) {
  const TemporaryFolder folder;
  const std::string config = folder.path().string() + "/config.json";
  folder.write("config.json", R"({"model_type": "laguna", "hidden_size": 1024, "num_hidden_layers": 2, "num_experts": 16, "vocab_size": 1000,
    "layer_types": ["full_attention", "sliding_attention"], "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 64,
    "moe_intermediate_size": 256, "shared_expert_intermediate_size": 256, "intermediate_size": 2048, "max_position_embeddings": 10000})");
  const auto weights = [&](const std::string& map) {
    uint64_t sum = 0;
    for (const auto& [name, bytes] : lines_of(plan({"--config", config, "--quantization", map}))) sum += name.starts_with("weights: ") ? bytes : 0;
    return sum;
  };
  const uint64_t bf16 = weights("bf16");
  EXPECT_GT(bf16, 4 * weights("3/64"));
  EXPECT_LT(bf16, 6 * weights("3/64"));
  folder.write("map.json", R"({"bits": 3, "group_size": 64, "model.layers.1.mlp.switch_mlp.gate_proj": {"bits": 8, "group_size": 64}})");
  const std::string map = folder.path().string() + "/map.json";
  // 16 experts of 256 x 1024 with five bits more; the router that the map does not list stays BF16.
  EXPECT_EQ(weights(map) - weights("3/64"), 16u * 256 * 1024 * 5 / 8 + 16 * 1024 * 2 - 16 * (1024 + 1024 / 64 * 4));

  folder.write("open.json", R"({"bits": 3})");
  expect_refused(run_lagoon({"plan", "--config", config, "--quantization", folder.path().string() + "/open.json"}), "group_size");
  expect_refused(run_lagoon({"plan", "--config", config, "--quantization", "9/64"}), "9/64");
  expect_refused(run_lagoon({"plan", "--config", config}), "go together");
  expect_refused(run_lagoon({"plan", "--config", "/nowhere.json", "--quantization", "bf16"}), "/nowhere.json");
  folder.write("config.json", R"({"model_type": "llama"})");
  expect_refused(run_lagoon({"plan", "--config", config, "--quantization", "bf16"}), config);
}

TEST(Plan, WrongFlagsAreRefused) {
  expect_refused(run_lagoon({"plan"}), "needs one of these");
  expect_refused(run_lagoon({"plan", "nano", "--context", "0"}), "--context 0");
  expect_refused(run_lagoon({"plan", "nano", "--context", "5000"}), "max_position_embeddings");
  expect_refused(run_lagoon({"plan", "nano", "--sequences", "0"}), "--sequences 0");
  expect_refused(run_lagoon({"plan", "nano", "--sequences", "9999999999"}), "--sequences");
  expect_refused(run_lagoon({"plan", "nano", "--prefill-chunk", "0"}), "--chunk 0");
  expect_refused(run_lagoon({"plan", "nano", "--kv", "q8"}), "--kv `q8`");
  expect_refused(run_lagoon({"plan", "nano", "--memory-limit", "24"}), "--memory-limit");
  expect_refused(run_lagoon({"plan", "nano", "--reserve", "1.0000000001GiB"}), "--reserve");
  expect_refused(run_lagoon({"plan", "s-2.1:9/64"}), "9/64");
}

// Every entry point obeys the same limit, and says what would fit.
TEST(Plan, EveryCommandObeysTheLimit) {
  const TemporaryFolder folder;
  folder.write("ids.json", "[1, 2, 3]");
  const std::string ids = folder.path().string() + "/ids.json";
  const std::vector<std::vector<std::string>> commands = {
      {"generate", "nano", "hi"}, {"logits", "nano", "--ids", ids}, {"bench", "nano", "--prompts", "8", "--generate", "2", "--batches", "1"}};
  for (const auto& command : commands) {
    std::vector<std::string> limited = command;
    limited.insert(limited.end(), {"--memory-limit", "1MB"});
    expect_refused(run_lagoon(limited), "--memory-limit", 1);
  }
  folder.write("config.json", R"({"memory_limit": "2MB"})");
  for (const auto& command : commands) {
    expect_refused(run_lagoon(command, {.environment = {"LAGOON_CONFIG=" + folder.path().string() + "/config.json"}}),
                   "memory_limit of the config file", 1);
  }
  EXPECT_EQ(plan({"nano", "--memory-limit", "1MB"}).at("fits"), false);

  // A limit between the plans of two contexts: the larger is refused with the largest that fits, and that one runs.
  const auto total = [&](const std::string& context) { return plan({"nano", "--context", context}).at("total_bytes").get<uint64_t>(); };
  const std::string limit = std::to_string((total("1000") + total("4096")) / 2) + "B";
  const int64_t largest = plan({"nano", "--memory-limit", limit}).at("largest_context").get<int64_t>();
  ASSERT_GT(largest, 1000);
  ASSERT_LT(largest, 4096);
  expect_refused(run_lagoon({"generate", "nano", "hi", "--memory-limit", limit}), "tokens (" + std::to_string(largest) + ")", 1);
  const ProgramRun run = run_lagoon({"generate", "nano", "hi", "--max-tokens", "2", "--memory-limit", limit, "--context", std::to_string(largest)});
  EXPECT_EQ(run.exit_code, 0) << run.error;
}

// What a plan calls fitting under a limit of the system runs under it, stacks of threads and all.
TEST(Plan, WhatFitsUnderAnAddressLimitRunsUnderIt) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes terabytes of address space";
#endif
  for (const std::string threads : {"2", "40"}) {
    const auto fits = [&](uint64_t limit) {
      const ProgramRun run = run_lagoon({"plan", "nano", "--context", "600", "--threads", threads, "--json"}, {.address_limit = limit});
      return run.exit_code == 0 && parse_json(run.output, "output").at("fits") == true;
    };
    uint64_t low = 20u << 20;
    uint64_t high = 4ull << 30;
    ASSERT_TRUE(fits(high)) << threads;
    while (high - low > (1u << 20)) (fits((low + high) / 2) ? high : low) = (low + high) / 2;
    for (const uint64_t more : {0u, 3u << 20}) {
      const ProgramRun run = run_lagoon({"generate", "nano", "What is 2 + 2?", "--context", "600", "--threads", threads, "--max-tokens", "3"},
                                        {.address_limit = high + more});
      EXPECT_EQ(run.exit_code, 0) << high << " " << threads << ": " << run.error;
    }
    const std::vector<std::string> refused = {"generate", "nano", "hi", "--context", "600", "--threads", threads};
    EXPECT_THAT(run_lagoon(refused, {.address_limit = low}).error, HasSubstr("RLIMIT_AS"));
  }
}

TEST(Plan, TheLedgerOfAnAnswerEqualsThePlan) {
  for (const std::string kv : {"bf16", "f32"}) {
    const Json planned = plan({"nano", "--context", "700", "--prefill-chunk", "33", "--kv", kv});
    const Json answer =
        run_for_json({"generate", "nano", "hi", "--max-tokens", "3", "--context", "700", "--chunk", "33", "--kv", kv, "--json", "--memory-report"});
    std::map<std::string, uint64_t> held;
    for (const Json& line : answer.at("memory").at("lines")) {
      held[line.at("name")] = line.at("held_bytes").get<uint64_t>();
      EXPECT_EQ(line.at("held_bytes"), line.at("planned_bytes")) << line.at("name");
    }
    EXPECT_EQ(held, lines_of(planned)) << kv;
    EXPECT_EQ(answer.at("memory").at("held_bytes"), planned.at("total_bytes"));
  }
  EXPECT_THAT(run_lagoon({"generate", "nano", "hi", "--max-tokens", "3", "--memory-report"}).error, HasSubstr("KV: sliding layers"));
}

class PlannedAndMeasured : public testing::TestWithParam<MemoryCase> {};

TEST_P(PlannedAndMeasured, AgreeWithin2PercentOr64MiB) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory is in no plan";
#endif
  const MemoryOutcome outcome = run_memory_case(GetParam());
  EXPECT_LE(outcome.difference(), outcome.tolerance()) << outcome.planned << " planned, " << outcome.resident << " resident";
}

INSTANTIATE_TEST_SUITE_P(Plan, PlannedAndMeasured,
                         testing::Values(MemoryCase{"nano", 64, 64, 1}, MemoryCase{"nano", 4096, 512, 1}, MemoryCase{"nano", 256, 16, 8},
                                         MemoryCase{"mini:4/64,layers=1", 2048, 512, 1}, MemoryCase{"mini:4/64,layers=5", 1024, 128, 4},
                                         MemoryCase{"mini:bf16,layers=3", 600, 512, 2}, MemoryCase{"mini:s-2.1-oq4e,layers=6", 512, 256, 1},
                                         MemoryCase{"xs-2.1:4/64,layers=2", 1024, 512, 1}));

}  // namespace
}  // namespace lagoon
