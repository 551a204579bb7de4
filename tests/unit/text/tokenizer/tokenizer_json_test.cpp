// Each key of a tokenizer.json: what is refused by name, and what is found to be corrupt. A good file, one thing changed per case.
#include "text/tokenizer/byte_level.h"

#include "base/error.h"
#include "base/utf8.h"
#include "support/tokenizer_goldens.h"
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <functional>

namespace lagoon {
namespace {

Json good() {
  Json vocabulary = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    std::string character;
    append_utf8(character, byte_level_character(static_cast<uint8_t>(byte)));
    vocabulary[character] = byte;
  }
  vocabulary["ab"] = 256;
  const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", Json::array({{{"id", 257},
                                         {"content", "<x>"},
                                         {"single_word", false},
                                         {"lstrip", false},
                                         {"rstrip", false},
                                         {"normalized", false},
                                         {"special", true}}})},
          {"normalizer", nullptr},
          {"pre_tokenizer", bytes},
          {"post_processor", nullptr},
          {"decoder", bytes},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array({"a b"})}}}};
}

std::string outcome(const Json& file) {
  try {
    Tokenizer::parse(file.dump(), "t.json");
  } catch (const Error& error) {
    return std::string(name_of(error.kind())) + ": " + error.what();
  }
  return "fine";
}

std::string outcome_of(const std::function<void(Json&)>& change) {
  Json file = good();
  change(file);
  return outcome(file);
}

TEST(TokenizerJson, GoodFileIsFine) {
  EXPECT_EQ(outcome(good()), "fine");
  const Tokenizer tokenizer = Tokenizer::parse(good().dump(), "t.json");
  EXPECT_EQ(tokenizer.encode("ab<x>"), (std::vector<int32_t>{256, 257}));
}

TEST(TokenizerJson, ComponentsThatLagoonLacksAreRefusedByName) {
  const std::vector<std::pair<std::function<void(Json&)>, std::string>> cases = {
      {[](Json& file) { file["model"]["type"] = "Unigram"; }, "unsupported: t.json: `model`: the model `Unigram` is not one that Lagoon has (BPE)"},
      {[](Json& file) {
         file["normalizer"] = {{"type", "NFD"}};
       },
       "unsupported: t.json: `normalizer`: the normalizer `NFD` is not one that Lagoon has (NFC, NFKC, Lowercase, Replace, Sequence)"},
      {[](Json& file) {
         file["pre_tokenizer"] = {{"type", "Metaspace"}};
       },
       "unsupported: t.json: `pre_tokenizer`: the pre-tokenizer `Metaspace` is not one that Lagoon has (Split, ByteLevel, Sequence)"},
      {[](Json& file) { file["pre_tokenizer"] = nullptr; },
       "unsupported: t.json: `pre_tokenizer`: there is no ByteLevel step, and Lagoon encodes bytes only"},
      {[](Json& file) {
         file["post_processor"] = {{"type", "BertProcessing"}};
       },
       "unsupported: t.json: `post_processor`: the post-processor `BertProcessing` is not one that Lagoon has (TemplateProcessing, ByteLevel, "
       "Sequence)"},
      {[](Json& file) {
         file["decoder"] = {{"type", "WordPiece"}};
       },
       "unsupported: t.json: `decoder`: the decoder `WordPiece` is not one that Lagoon has (ByteLevel, Sequence)"},
      {[](Json& file) { file["truncation"] = Json::object(); },
       "unsupported: t.json: `truncation` is set; Lagoon neither cuts nor fills texts on its own, it must be null"},
      {[](Json& file) { file["padding"] = Json::object(); },
       "unsupported: t.json: `padding` is set; Lagoon neither cuts nor fills texts on its own, it must be null"},
      {[](Json& file) { file["model"]["dropout"] = 0.1; },
       "unsupported: t.json: `model`: `dropout` is set, which makes encoding random; Lagoon needs it null"},
      {[](Json& file) { file["model"]["byte_fallback"] = true; },
       "unsupported: t.json: `model`: `byte_fallback` is true; Lagoon takes byte-level vocabularies, which need none"},
      {[](Json& file) { file["model"]["continuing_subword_prefix"] = "##"; },
       "unsupported: t.json: `model`: `continuing_subword_prefix` is set, which marks tokens inside of words; Lagoon needs it null"},
      {[](Json& file) { file["shape"] = 1; }, "unsupported: t.json: the key `shape` is not one that Lagoon knows"},
  };
  for (const auto& [change, sentence] : cases) {
    const std::string advice = sentence.find("; ") == std::string::npos ? "; use the tokenizer.json of a Laguna model" : "";
    EXPECT_EQ(outcome_of(change), sentence + advice);
  }
}

TEST(TokenizerJson, FilesThatContradictThemselvesAreCorrupt) {
  const std::vector<std::pair<std::function<void(Json&)>, std::string>> cases = {
      {[](Json& file) { file["model"]["vocab"]["zz"] = 7; }, "corrupt: t.json: `model`: `vocab` gives the id 7 to both `\u0107` and `zz`"},
      {[](Json& file) { file["model"]["vocab"]["zz"] = -1; },
       "corrupt: t.json: `model.vocab` gives the token `zz` the id -1, a whole number from 0 to 16777215 was needed"},
      {[](Json& file) { file["model"]["vocab"]["zz"] = 16777216; },
       "corrupt: t.json: `model.vocab` gives the token `zz` the id 16777216, a whole number from 0 to 16777215 was needed"},
      {[](Json& file) { file["model"]["vocab"]["zz"] = "1"; },
       "corrupt: t.json: `model.vocab` gives the token `zz` the id `1`, a whole number from 0 to 16777215 was needed"},
      {[](Json& file) { file["model"]["vocab"] = Json::array(); },
       "corrupt: t.json: `model.vocab` is a list, an object of tokens and their ids was needed"},
      {[](Json& file) {
         file["model"]["merges"] = Json::array({"a b", "a c"});
       },
       "corrupt: t.json: `model`: `merges` entry 1 needs the token `ac`, which `vocab` does not hold"},
      {[](Json& file) { file["model"]["merges"] = Json::array({"a nowhere"}); },
       "corrupt: t.json: `model`: `merges` entry 0 needs the token `nowhere`, which `vocab` does not hold"},
      {[](Json& file) { file["model"]["merges"] = Json::array({"a b c"}); },
       "corrupt: t.json: entry 0 of `model.merges` is `a b c`, \"left right\" or [\"left\", \"right\"] was needed"},
      {[](Json& file) { file["model"]["merges"] = Json::array({Json::array({"a"})}); },
       "corrupt: t.json: entry 0 of `model.merges` is a list of one text, \"left right\" or [\"left\", \"right\"] was needed"},
      {[](Json& file) {
         file["model"]["merges"] = Json::array({Json::array({"a", 5})});
       },
       "corrupt: t.json: entry 0 of `model.merges` holds 5, \"left right\" or [\"left\", \"right\"] was needed"},
      {[](Json& file) { file["model"]["merges"] = "a b"; }, "corrupt: t.json: `model.merges` is `a b`, a list of pairs of tokens was needed"},
      {[](Json& file) { file["model"].erase("merges"); }, "corrupt: t.json: `model` lacks the key `merges`, a list of pairs of tokens was needed"},
      {[](Json& file) { file.erase("model"); }, "corrupt: t.json lacks the key `model`, an object was needed"},
      {[](Json& file) { file["added_tokens"][0].erase("lstrip"); },
       "corrupt: t.json: `added_tokens`[0] lacks the key `lstrip`, true or false was needed"},
      {[](Json& file) { file["added_tokens"][0]["content"] = 5; }, "corrupt: t.json: `added_tokens`[0]: `content` is 5, a text was needed"},
      {[](Json& file) { file["added_tokens"][0]["id"] = 300; },
       "corrupt: t.json: `added_tokens`[0]: the added token `<x>` has the id 300, but is not in `model.vocab` and the next free id is 257"},
      {[](Json& file) { file["added_tokens"][0]["content"] = "ab"; },
       "corrupt: t.json: `added_tokens`[0]: the added token `ab` has the id 257, but `model.vocab` gives it 256"},
      {[](Json& file) { file["added_tokens"].push_back(file["added_tokens"][0]); },
       "corrupt: t.json: `added_tokens`[1]: the added token `<x>` stands twice in the list"},
      {[](Json& file) { file["pre_tokenizer"].erase("trim_offsets"); },
       "corrupt: t.json: `pre_tokenizer` lacks the key `trim_offsets`, true or false was needed"},
      {[](Json& file) { file["pre_tokenizer"]["trim_offsets"] = Json::object(); },
       "corrupt: t.json: `pre_tokenizer`: `trim_offsets` is an object, true or false was needed"},
      {[](Json& file) { file["decoder"] = 5; }, "corrupt: t.json: `decoder` is 5, an object was needed"},
  };
  for (const auto& [change, sentence] : cases) EXPECT_EQ(outcome_of(change), sentence + "; fetch the file again");
}

TEST(TokenizerJson, SizesAreBounded) {
  const auto steps = [](const char* key, const char* list, const Json& step, size_t count) {
    return outcome_of([&](Json& file) {
      const Json last = file["pre_tokenizer"];
      file[key] = {{"type", "Sequence"}, {list, std::vector<Json>(count, step)}};
      if (std::string(key) == "pre_tokenizer") file[key][list].push_back(last);
    });
  };
  const Json nfc = {{"type", "NFC"}};
  const Json split = {{"type", "Split"}, {"pattern", {{"String", "a"}}}, {"behavior", "Isolated"}, {"invert", false}};
  const Json bytes = {{"type", "ByteLevel"}, {"trim_offsets", true}};
  EXPECT_EQ(steps("normalizer", "normalizers", nfc, 64), "fine");
  EXPECT_EQ(steps("normalizer", "normalizers", nfc, 65),
            "unsupported: t.json: `normalizer`.normalizers: with its 65 steps there are 65 in all, at most 64 are taken; use the tokenizer.json of a "
            "Laguna model");
  EXPECT_EQ(steps("normalizer", "normalizers", {{"type", "Sequence"}, {"normalizers", std::vector<Json>(8, nfc)}}, 7), "fine");
  EXPECT_NE(steps("normalizer", "normalizers", {{"type", "Sequence"}, {"normalizers", std::vector<Json>(8, nfc)}}, 8), "fine");
  EXPECT_EQ(steps("pre_tokenizer", "pretokenizers", split, 63), "fine");
  EXPECT_NE(steps("pre_tokenizer", "pretokenizers", split, 64).find("there are 65 in all"), std::string::npos);
  EXPECT_NE(steps("post_processor", "processors", bytes, 65).find("there are 65 in all"), std::string::npos);

  const auto added = [](size_t count, size_t length) {
    return outcome_of([&](Json& file) {
      for (size_t i = 0; i < count; ++i) {
        Json token = file["added_tokens"][0];
        token["id"] = 258 + i;
        token["content"] = std::string(length - 6, '<') + std::to_string(100'000 + i);
        file["added_tokens"].push_back(token);
      }
    });
  };
  EXPECT_EQ(added(4095, 256), "fine");
  EXPECT_EQ(
      added(4096, 256),
      "unsupported: t.json: `added_tokens`: the added tokens have 1048579 bytes together, at most 1048576 are taken; use the tokenizer.json of a "
      "Laguna model");
  EXPECT_NE(added(1, 257).find("`content` has 257 bytes, Lagoon takes at most 256"), std::string::npos);
}

TEST(TokenizerJson, MoreThanAMillionTokensOrMergesAreRefused) {
  std::string vocabulary;
  for (int i = 0; i <= 1'000'000; ++i) vocabulary += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":" + std::to_string(i);
  std::string merges = "\"a b\"";
  for (int i = 0; i < 1'000'000; ++i) merges += ",\"a b\"";
  const auto refusal = [](const std::string& model) {
    try {
      Tokenizer::parse("{\"model\":{" + model + "}}", "t.json");
      return std::string("fine");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal("\"vocab\":{" + vocabulary + "}"),
            "t.json: `model.vocab` has more than 1000000 entries, Lagoon takes no more; use the "
            "tokenizer.json of a Laguna model");
  EXPECT_EQ(refusal("\"merges\":[" + merges + "]"),
            "t.json: `model.merges` has more than 1000000 entries, Lagoon takes no more; use the "
            "tokenizer.json of a Laguna model");
}

TEST(TokenizerJson, TextThatIsNoJsonNamesTheByte) {
  try {
    Tokenizer::parse("{\"model\": }", "t.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt);
    EXPECT_EQ(std::string(error.what()).substr(0, 29), "t.json: no valid JSON at byte");
  }
}

TEST(TokenizerJson, ATokenTwiceIsCorrupt) {
  try {
    Tokenizer::parse(R"({"model": {"vocab": {"a": 0, "a": 1}, "merges": []}})", "t.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "t.json: `model.vocab` holds the token `a` twice; one of the two must go");
  }
}

TEST(TokenizerJson, UnusedIdsAreFine) {
  EXPECT_EQ(outcome_of([](Json& file) {
              file["model"]["vocab"]["far"] = 5000;
              file["added_tokens"][0]["id"] = 258;
            }),
            "fine");
}

TEST(TokenizerJson, AMissingFileIsAnError) {
  try {
    Tokenizer::load("/nowhere/tokenizer.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid);
    EXPECT_STREQ(error.what(), "/nowhere/tokenizer.json: there is no such file; look at the path, or fetch the file");
  }
}

// What a small file makes large: the text that a normalizer makes, the ids that a post-processor adds, a token.
TEST(TokenizerJson, GrowthIsBounded) {
  const auto replace = [](const Json& pattern, const std::string& content) {
    return Json{{"type", "Replace"}, {"pattern", pattern}, {"content", content}};
  };
  const auto encoded = [](const Json& normalizer, const std::string& text) {
    Json file = good();
    file["normalizer"] = normalizer;
    try {
      Tokenizer::parse(file.dump(), "t.json").encode_data(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("fine");
  };
  const std::string text(1000, 'a');
  EXPECT_EQ(encoded(replace({{"String", "a"}}, "bb"), text), "fine");
  EXPECT_NE(encoded(replace({{"String", "a"}}, std::string(1'000'000, 'b')), text).find("`normalizer`"), std::string::npos);
  EXPECT_NE(encoded(replace({{"Regex", "(?=.)"}}, std::string(100'000, 'b')), text).find("`normalizer`"), std::string::npos);
  Json steps = Json::array();
  for (int i = 0; i < 10; ++i) steps.push_back(replace({{"String", "a"}}, text));
  EXPECT_NE(encoded({{"type", "Sequence"}, {"normalizers", steps}}, "aa").find("`normalizer`"), std::string::npos);

  EXPECT_NE(outcome_of([](Json& file) { file["model"]["vocab"][std::string(900'000, 'z')] = 257; }).find("a token of 900000 bytes, at most 65536"),
            std::string::npos);
}

TEST(TokenizerJson, IdsOfThePostProcessorAreTokensAndFew) {
  const auto with = [](const Json& ids, size_t times) {
    Json single = Json::array();
    for (size_t i = 0; i < times; ++i) single.push_back({{"SpecialToken", {{"id", "<x>"}, {"type_id", 0}}}});
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
    return outcome_of([&](Json& file) {
      file["post_processor"] = {{"type", "TemplateProcessing"},
                                {"single", single},
                                {"pair", Json::array()},
                                {"special_tokens", {{"<x>", {{"id", "<x>"}, {"ids", ids}, {"tokens", {"<x>"}}}}}}};
    });
  };
  EXPECT_EQ(with({257}, 1), "fine");
  EXPECT_EQ(with({99999}, 1), "corrupt: t.json: `post_processor` adds the id 99999, which no token has; ids go from 0 to 257");
  EXPECT_EQ(with({257}, 999), "fine");
  EXPECT_NE(with({257}, 1000).find("t.json: `post_processor`.single: the template for one text adds more than 1000 ids"), std::string::npos);
  EXPECT_NE(with(std::vector<int>(1000, 257), 2000).find("adds more than 1000 ids"), std::string::npos);
}

}  // namespace
}  // namespace lagoon
