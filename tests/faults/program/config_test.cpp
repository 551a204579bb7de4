// config.json, generation_config.json and tokenizer.json that say what cannot be: the key, what it holds and what was needed.
#include "faults/program/hostile.h"

namespace lagoon {
namespace {

using namespace testing_support;

constexpr const char* config = "config.json";

struct Wrong {
  const char* name;
  Json value;
};

std::vector<Wrong> wrong_numbers() {
  return {{"negative", -1}, {"huge", 1e30}, {"2^62", int64_t{1} << 62}, {"fraction", 1.5},
          {"text", "x"},    {"list", {1}},  {"object", Json::object()}, {"truth", true}};
}

// plan stands for every command that opens a checkpoint: all open it through one function, as the other cases show.
TEST(HostileConfig, EveryKeyOfTheWrongKindIsNamed) {
  for (const char* key :
       {"vocab_size", "hidden_size", "head_dim", "intermediate_size", "num_hidden_layers", "num_key_value_heads", "num_experts",
        "num_experts_per_tok", "moe_intermediate_size", "shared_expert_intermediate_size", "max_position_embeddings", "sliding_window"}) {
    for (const Wrong& wrong : wrong_numbers()) {
      SCOPED_TRACE(std::string(key) + " " + wrong.name);
      const HostileFolder folder;
      folder.set(config, key, wrong.value);
      expect_refused(run_limited({"plan", folder.path()}), std::string("config.json: `") + key + "` is ");
    }
  }
  for (const char* key : {"layer_types", "mlp_layer_types", "num_attention_heads_per_layer", "model_type", "hidden_act", "tie_word_embeddings",
                          "attention_bias", "rope_parameters", "gating", "architectures", "eos_token_id", "rms_norm_eps"}) {
    for (const Wrong& wrong : {Wrong{"number", -1}, Wrong{"list", Json::array({Json::array()})}}) {
      SCOPED_TRACE(std::string(key) + " " + wrong.name);
      const HostileFolder folder;
      folder.set(config, key, wrong.value);
      expect_refused(run_limited({"plan", folder.path()}), std::string("config.json: `") + key + "` ");
    }
  }
}

TEST(HostileConfig, ASizeThatContradictsTheTensorsIsRefused) {
  const Json original = HostileFolder::original_json(config);
  for (const char* key : {"vocab_size", "hidden_size", "head_dim", "intermediate_size", "num_hidden_layers", "num_key_value_heads", "num_experts",
                          "moe_intermediate_size", "shared_expert_intermediate_size"}) {
    for (const int64_t value : {original[key].get<int64_t>() * 2, original[key].get<int64_t>() / 2}) {
      SCOPED_TRACE(fmt::format("{} = {}", key, value));
      const HostileFolder folder;
      folder.set(config, key, value);
      expect_refused(run_limited({"plan", folder.path()}), "");
    }
  }
  expect_all_refuse(config, {{"heads",
                              [](auto& folder) { folder.set(config, "num_attention_heads_per_layer", std::vector<int>(8, 8)); },
                              {"6 tensors have another shape than config.json implies", "`model.layers.0.self_attn.q_proj.weight`"}},
                             {"kinds",
                              [](auto& folder) { folder.set(config, "mlp_layer_types", std::vector<std::string>(8, "sparse")); },
                              {"tensors are missing", "`model.layers.0.mlp.gate.weight`"}},
                             {"short list",
                              [](auto& folder) { folder.set(config, "layer_types", {"full_attention"}); },
                              {"`layer_types` has 1 entries, `num_hidden_layers` is 8"}}});
}

TEST(HostileConfig, ExpertsWithoutEndAreRefusedAtOnce) {
  const auto claims = [](int layers, int experts) {
    return [=](HostileFolder& folder) {
      folder.edit(config, [&](Json& document) {
        for (const char* key : {"layer_types", "mlp_layer_types", "num_attention_heads_per_layer"}) document.erase(key);
        document["rope_parameters"].erase("sliding_attention");
        document["num_hidden_layers"] = layers;
        document["num_experts"] = experts;
      });
    };
  };
  expect_all_refuse(config, {{"beyond the limit", claims(1024, 16384), {"`num_experts` is 16384 and 1023 layers are sparse"}},
                             {"at the limit", claims(1024, 64), {"1,000 or more tensors are missing"}}});
  HostileFolder folder;
  claims(64, 16384)(folder);
  expect_refused(run_limited({"plan", "--config", folder.at(config), "--quantization", "bf16"}), "63 layers are sparse");
  claims(256, 64)(folder);
  EXPECT_EQ(run_limited({"plan", "--config", folder.at(config), "--quantization", "bf16"}).exit_code, 0);
}

TEST(HostileConfig, RopeKeysAreKnownAndInRange) {
  const auto rope = [](const char* key, const Json& value) {
    return [=](HostileFolder& folder) { folder.edit(config, [&](Json& document) { document["rope_parameters"]["full_attention"][key] = value; }); };
  };
  expect_all_refuse(
      config,
      {{"misspelled", rope("facter", 2), {"config.json: `rope_parameters.full_attention.facter` is no key"}},
       {"zero factor", rope("factor", 0), {"`rope_parameters.full_attention.factor` is 0, a number from 1"}},
       {"huge theta", rope("rope_theta", 1e300), {"`rope_parameters.full_attention.rope_theta` is 1e+300"}},
       {"fraction", rope("original_max_position_embeddings", 1.5), {"`rope_parameters.full_attention.original_max_position_embeddings` is 1.5"}},
       {"text", rope("beta_fast", "x"), {"`rope_parameters.full_attention.beta_fast` is \"x\""}},
       {"unknown type", rope("rope_type", "su"), {"`rope_parameters.full_attention.rope_type` is `su`"}}});
}

TEST(HostileConfig, HundredsOfThousandsOfKeysTakeNoTime) {
  const HostileFolder folder;
  folder.edit(config, [](Json& document) {
    Json inner = document;
    auto& inside = inner.get_ref<Json::object_t&>();
    auto& around = document.get_ref<Json::object_t&>();
    for (int at = 0; at < 100'000; ++at) inside.emplace_back(fmt::format("k{}", at), 1);
    for (int at = 0; at < 100'000; ++at) around.emplace_back(fmt::format("j{}", at), 1);
    around.emplace_back("text_config", std::move(inner));
  });
  EXPECT_EQ(run_limited({"plan", folder.path()}).exit_code, 0);
}

TEST(HostileConfig, ManyQuantizedPathsTakeNoTime) {
  const HostileFolder folder;
  folder.edit(config, [](Json& document) {
    document["quantization"] = {{"bits", 4}, {"group_size", 64}};
    auto& paths = document["quantization"].get_ref<Json::object_t&>();
    for (int at = 0; at < 40'000; ++at) {
      paths.emplace_back(fmt::format("stale.{}", at), Json{{"bits", 4}, {"group_size", 64}});
    }
  });
  EXPECT_EQ(run_limited({"inspect", folder.path()}).exit_code, 0);
}

TEST(HostileConfig, TextsBesideTheWeightsHaveTheLimitsOfTheirLoaders) {
  for (const char* name : {"chat_template.jinja", "generation_config.json", "tokenizer_config.json"}) {
    SCOPED_TRACE(name);
    const HostileFolder folder;
    folder.put(name, "{}");
    std::filesystem::resize_file(folder.at(name), 200u << 20);
    const ProgramRun run = run_limited({"inspect", folder.path()});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(run.output, testing::HasSubstr(std::string(name) + ": the file has 209,715,200 bytes, at most"));
  }
}

TEST(HostileConfig, IdsBeyondTheVocabularyAreNamed) {
  expect_all_refuse(config, {{"eos",
                              [](auto& folder) {
                                folder.set(config, "eos_token_id", {2, 99999});
                              },
                              {"`eos_token_id` is 99999"}},
                             {"negative eos", [](auto& folder) { folder.set(config, "eos_token_id", -1); }, {"`eos_token_id` is -1"}}});
  const HostileFolder folder;
  folder.set("generation_config.json", "eos_token_id", {2, 1845});
  expect_refused(run_limited({"generate", folder.path(), "hi"}),
                 "generation_config.json: `eos_token_id` is 1845, vocab_size is 1,845: ids go from 0 to 1844");
}

TEST(HostileGenerationConfig, ValuesOutOfRangeAreNamed) {
  constexpr const char* file = "generation_config.json";
  const auto set = [](const char* key, const Json& value) { return [=](HostileFolder& folder) { folder.set(file, key, value); }; };
  expect_all_refuse(file, {{"temperature", set("temperature", -1), {"`temperature` is -1, a number from 0"}},
                           {"text", set("temperature", "hot"), {"`temperature` is \"hot\""}},
                           {"top_p", set("top_p", 3), {"`top_p` is 3, a number from 0 to 1"}},
                           {"top_k", set("top_k", -7), {"`top_k` is -7"}},
                           {"do_sample", set("do_sample", 3), {"`do_sample` is 3, true or false"}},
                           {"eos text", set("eos_token_id", "x"), {"`eos_token_id` is \"x\""}},
                           {"eos negative", set("eos_token_id", -2), {"`eos_token_id` is -2"}}});
}

std::function<void(HostileFolder&)> tokenizer_with(const std::function<void(Json&)>& change) {
  return [change](HostileFolder& folder) { folder.edit("tokenizer.json", change); };
}

std::function<void(HostileFolder&)> added(int64_t id) {
  return tokenizer_with([id](Json& document) {
    Json token = document["added_tokens"][0];
    token["id"] = id;
    token["content"] = "<new>";
    document["added_tokens"].push_back(token);
  });
}

std::function<void(HostileFolder&)> token(const Json& id) {
  return tokenizer_with([id](Json& document) { document["model"]["vocab"]["zzzz"] = id; });
}

TEST(HostileTokenizer, IdsThatCannotBeAreNamed) {
  expect_all_refuse("tokenizer.json",
                    {{"gap", token(16'000'000), {"gives the token `zzzz` the id 16000000, but has 1846 tokens in all"}},
                     {"huge", token(int64_t{1} << 40), {"`model.vocab` gives the token `zzzz` the id 1099511627776, a whole number from 0 to"}},
                     {"negative", token(-1), {"`zzzz`"}},
                     {"fraction", token(1.5), {"`zzzz` the id 1.5, a whole number"}},
                     {"text", token("x"), {"`zzzz` the id `x`, a whole number"}},
                     {"given twice", token(100), {"gives the id 100 to both"}},
                     {"added far", added(1'000'000), {"`added_tokens`", "the next free id is 1845"}},
                     {"added huge", added(int64_t{1} << 31), {"`added_tokens`", "`id` is 2147483648, a whole number from 0 to"}},
                     {"added taken", added(5), {"`<new>` has the id 5"}}});
}

// tokenize needs no weights; whatever generates compares the two.
TEST(HostileTokenizer, MoreTokensThanRowsAreRefused) {
  for (const auto& spoil : {added(1845), token(1845)}) {
    HostileFolder folder;
    spoil(folder);
    expect_refused(run_limited({"generate", folder.path(), "hi"}), "tokenizer.json has 1,846 ids, the last is 1845 (`");
    EXPECT_EQ(run_limited({"tokenize", folder.path(), "hi"}).exit_code, 0);
  }
}

TEST(HostileTokenizer, EndTokensAndGapsAreLookedAtBeforeAnAnswer) {
  const auto refused = [](const std::function<void(Json&)>& change, const std::string& part) {
    HostileFolder folder;
    folder.edit("tokenizer.json", change);
    expect_refused(run_limited({"generate", folder.path(), "hi"}), part);
    expect_refused(run_limited({"score", folder.path()}, {.input = "hi"}), part);
  };
  refused([](Json& document) { document["added_tokens"].erase(24); }, "tokenizer.json has no added token with the id 24, which");
  refused([](Json& document) { document["added_tokens"] = Json::array(); }, "tokenizer.json has no added token with the id 2, which");
  refused(
      [](Json& document) {
        Json vocabulary = Json::object();
        for (const auto& [token, id] : document["model"]["vocab"].items()) {
          if (id != 703) vocabulary[token] = id;
        }
        document["model"]["vocab"] = vocabulary;
        document["model"]["merges"] = Json::array();
      },
      "tokenizer.json has no token with the id 703; of its ids 0 to 1844, 1 is missing");
}

TEST(HostileTokenizer, WhatTakesLongIsRefused) {
  const auto refused = [](const std::string& input, const std::function<void(Json&)>& change, const std::string& part) {
    HostileFolder folder;
    folder.edit("tokenizer.json", change);
    expect_refused(run_limited({"tokenize", folder.path(), "-", "--special"}, {.input = input}), part);
  };
  for (const auto& [regex, bytes] : {std::pair{"(?:a|a){22}[bc]", 300}, {"(?=.*[bc])x|a", 100'000}}) {
    refused(
        std::string(static_cast<size_t>(bytes), 'a'),
        [&](Json& document) {
          document["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {{"Regex", regex}};
        },
        "it goes over the same characters again and again");
  }
  refused(
      "a",
      [](Json& document) {
        document["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::vector<Json>(40'000, Json{{"type", "NFC"}})}};
      },
      "there are 40000 in all, at most 64 are taken");
  refused(
      "a",
      [](Json& document) {
        const Json first = document["added_tokens"][0];
        for (int i = 0; i < 20'000; ++i) {
          document["added_tokens"].push_back(first);
          document["added_tokens"].back()["id"] = 1845 + i;
          document["added_tokens"].back()["content"] = std::string(200, 'a') + std::to_string(i);
        }
      },
      "at most 1048576 are taken");
}

TEST(HostileTokenizer, PartsThatCannotBeAreNamed) {
  const auto pattern = [](const std::string& regex) {
    return tokenizer_with([regex](Json& document) {
      document["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}};
    });
  };
  std::string long_pattern(50'000, '(');
  expect_all_refuse("tokenizer.json",
                    {{"merge of nothing",
                      tokenizer_with([](Json& document) {
                        document["model"]["merges"].push_back({"zz", "qq"});
                      }),
                      {"`merges` entry 1519"}},
                     {"merge that is a number",
                      tokenizer_with([](Json& document) { document["model"]["merges"].push_back(5); }),
                      {"entry 1519 of `model.merges` is 5", "fetch the file again"}},
                     {"another model", tokenizer_with([](Json& document) { document["model"]["type"] = "Unigram"; }), {"the model `Unigram`"}},
                     {"no model", tokenizer_with([](Json& document) { document["model"] = 5; }), {"`model` is 5, an object was needed"}},
                     {"no vocabulary", tokenizer_with([](Json& document) { document["model"].erase("vocab"); }), {"`model` lacks the key `vocab`"}},
                     {"open group", pattern("("), {"`pre_tokenizer`", "a group without an end"}},
                     {"recursion", pattern("(?R)"), {"`pre_tokenizer`"}},
                     {"repetition", pattern("(((a{1000}){1000}){1000})"), {"`pre_tokenizer`"}},
                     {"long", pattern(long_pattern), {"`pre_tokenizer`"}}});
}

TEST(HostileTokenizer, WhatGrowsIsBounded) {
  const auto normalizer = [](const Json& value) { return tokenizer_with([value](Json& document) { document["normalizer"] = value; }); };
  const auto replace = [](const Json& pattern, size_t bytes) {
    return Json{{"type", "Replace"}, {"pattern", pattern}, {"content", std::string(bytes, 'h')}};
  };
  const Json steps(10, replace({{"String", "h"}}, 1000));
  const auto frame = [](int64_t id, size_t times) {
    return tokenizer_with([id, times](Json& document) {
      const Json ids = std::vector<int64_t>(times, id);
      document["post_processor"] = {{"type", "TemplateProcessing"},
                                    {"single", Json(times, Json{{"SpecialToken", {{"id", "x"}, {"type_id", 0}}}})},
                                    {"pair", Json::array()},
                                    {"special_tokens", {{"x", {{"id", "x"}, {"ids", ids}, {"tokens", Json::array()}}}}}};
    });
  };
  HostileFolder folder;
  for (const Json& value :
       {replace({{"String", "h"}}, 2'000'000), Json{{"type", "Sequence"}, {"normalizers", steps}}, replace({{"Regex", "(?=.)"}}, 1'000'000)}) {
    normalizer(value)(folder);
    expect_refused(run_limited({"tokenize", folder.path(), "hi"}), "`normalizer`");
  }
  expect_all_refuse("tokenizer.json", {{"long frame", frame(1, 1001), {"`post_processor`", "adds more than 1000 ids"}},
                                       {"unknown id", frame(99999, 1), {"`post_processor` adds the id 99999"}},
                                       {"long token",
                                        tokenizer_with([](Json& document) { document["model"]["vocab"][std::string(900'000, 'z')] = 1845; }),
                                        {"`model.vocab` holds a token of 900000 bytes"}}});
}

TEST(HostileIds, OfTheUserAreNamed) {
  const auto logits = [](const std::string& ids) { return run_limited({"logits", "nano", "--ids", "-"}, {.input = ids}); };
  expect_refused(logits("[1845]"), "token id 1845, number 1 of the list: the vocabulary has ids 0 to 1844");
  expect_refused(logits("[-1]"), "-1 is no token id");
  expect_refused(logits("[99999999999999999999]"), "is no token id");
  expect_refused(logits("[1.5]"), "1.5 is no token id");
  expect_refused(run_limited({"tokenize", "nano", "--decode", "1845"}), "no token has the id 1845");
  expect_refused(run_limited({"tokenize", "nano", "--decode", "-1"}), "");
  for (const char* list : {"[[[[", "]]]", "[1 2", "1,,,2", "[1,[2]]", "[1 2]", "1,", "[,1]", "[", "1]", "[1],2"}) {
    SCOPED_TRACE(list);
    expect_refused(run_limited({"tokenize", "nano", "--decode", list}), "write whole numbers such as 17 4 or [17, 4]");
  }
  for (const char* list : {"17 4", "17, 4", "17,4", "[17, 4]", "[ 17 ,4 ]", "[]", ""}) {
    EXPECT_EQ(run_limited({"tokenize", "nano", "--decode", list}).exit_code, 0) << list;
  }
  expect_refused(run_limited({"generate", "nano", "hi", "--logit-bias", "1845=1"}), "token 1845 is outside the vocabulary");
}

}  // namespace
}  // namespace lagoon
