// vocabulary: ids that the files of a checkpoint name and its weights have no rows for.
#include "text/vocabulary.h"

#include "support/checkpoint_builder.h"
#include "support/sentence_of.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <functional>

namespace lagoon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing_support::CheckpointBuilder;
using testing_support::sentence_of;
using testing_support::TemporaryFolder;

Checkpoint checkpoint_with(int vocabulary, const TemporaryFolder& folder) {
  CheckpointBuilder({.vocabulary = vocabulary}).write(folder.path());
  return Checkpoint::open(folder.path().string(), {}, SystemFiles());
}

TEST(CheckVocabulary, ATokenizerOfMoreIdsThanRowsIsRefused) {
  const Tokenizer tokenizer = Tokenizer::load(LAGOON_SOURCE_DIR "/models/nano/tokenizer.json");
  const int32_t size = tokenizer.vocabulary_size();
  const TemporaryFolder whole;
  const TemporaryFolder small;
  EXPECT_NO_THROW(check_vocabulary(tokenizer, {}, checkpoint_with(size, whole)));
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [&] { check_vocabulary(tokenizer, {}, checkpoint_with(size - 1, small)); }),
              AllOf(HasSubstr("tokenizer.json has 1,845 ids, the last is 1844 (`"), HasSubstr("vocab_size is 1,844")));
}

TEST(CheckVocabulary, AnEndIdBeyondTheRowsIsRefused) {
  const Tokenizer tokenizer = Tokenizer::load(LAGOON_SOURCE_DIR "/models/nano/tokenizer.json");
  const int32_t size = tokenizer.vocabulary_size();
  const TemporaryFolder folder;
  const Checkpoint checkpoint = checkpoint_with(size, folder);
  GenerationConfig advice;
  advice.eos_ids = {2, 24};
  EXPECT_NO_THROW(check_vocabulary(tokenizer, advice, checkpoint));
  advice.eos_ids = {2, size};
  EXPECT_THAT(sentence_of(ErrorKind::corrupt, [&] { check_vocabulary(tokenizer, advice, checkpoint); }),
              AllOf(HasSubstr("generation_config.json: `eos_token_id` is 1845"), HasSubstr("0 to 1844")));
}

/// The sentence of nano's tokenizer after a change, for a checkpoint beside whose weights `tokenizer_config` stands.
std::string refusal(const std::function<void(Json&)>& change, const std::string& tokenizer_config = "{}") {
  std::ifstream file(LAGOON_SOURCE_DIR "/models/nano/tokenizer.json");
  Json document = Json::parse(file);
  change(document);
  const TemporaryFolder folder;
  const Checkpoint checkpoint = checkpoint_with(1845, folder);
  std::ofstream(folder.path() / "tokenizer_config.json") << tokenizer_config;
  GenerationConfig advice;
  advice.eos_ids = {24};
  try {
    check_vocabulary(Tokenizer::parse(document.dump(), "t"), advice, checkpoint);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt);
    return std::string(error.what()).substr(printable(folder.path().string(), 4096).size());
  }
  return "none";
}

constexpr const char* advice = "it is damaged or belongs to another model, fetch it again";

TEST(CheckVocabulary, EndTokensAreAddedTokens) {
  EXPECT_EQ(refusal([](Json&) {}, R"({"bos_token": "\u3008|EOS|\u3009", "eos_token": {"content": "</assistant>"}})"), "none");
  const auto without = [](size_t index) { return [index](Json& document) { document["added_tokens"].erase(index); }; };
  EXPECT_THAT(refusal(without(24)), StartsWith(": tokenizer.json has no added token with the id 24, which generation_config.json names as "
                                               "`eos_token_id`, but the ordinary token `</assistant>`; "));
  EXPECT_THAT(refusal(without(2)), HasSubstr("with the id 2, which config.json names"));
  EXPECT_THAT(refusal([](Json& document) {
                document["added_tokens"] = Json::array();
                document["post_processor"] = nullptr;
              }),
              HasSubstr("has no added token with the id 24"));
  EXPECT_EQ(refusal([](Json&) {}, R"({"eos_token": "<stop>"})"),
            std::string(": tokenizer.json has no added token `<stop>`, which tokenizer_config.json names as `eos_token`; ") + advice);
  EXPECT_THAT(refusal([](Json&) {}, R"({"bos_token": "a"})"), HasSubstr("has no added token `a`"));
  EXPECT_THAT(refusal([](Json&) {}, R"({"bos_token": 5})"), HasSubstr("tokenizer_config.json: `bos_token` is 5"));
}

TEST(CheckVocabulary, IdsWithoutATokenAreCounted) {
  const auto without = [](std::vector<int32_t> ids) {
    return [ids](Json& document) {
      Json vocabulary = Json::object();
      for (const auto& [token, id] : document["model"]["vocab"].items()) {
        if (std::find(ids.begin(), ids.end(), id.get<int32_t>()) == ids.end()) vocabulary[token] = id;
      }
      document["model"]["vocab"] = vocabulary;
      document["model"]["merges"] = Json::array();
    };
  };
  EXPECT_EQ(refusal(without({703})), std::string(": tokenizer.json has no token with the id 703; of its ids 0 to 1844, 1 is missing; ") + advice);
  EXPECT_EQ(refusal(without({1703, 703})),
            std::string(": tokenizer.json has no token with the id 703; of its ids 0 to 1844, 2 are missing; ") + advice);
  EXPECT_EQ(refusal(without({1843, 1844})), "none");
}

}  // namespace
}  // namespace lagoon
