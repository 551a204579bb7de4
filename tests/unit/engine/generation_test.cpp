// Generation over a scripted model: what ends an answer, and what of it is shown.
#include "engine/generation.h"

#include "base/utf8.h"
#include "support/scripted_model.h"
#include "support/sentence_of.h"

#include <gmock/gmock.h>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::ScriptedModel;
using testing_support::sentence_of;

const Tokenizer& nano_tokenizer() {
  static const Tokenizer tokenizer = Tokenizer::load(LAGOON_SOURCE_DIR "/models/nano/tokenizer.json");
  return tokenizer;
}

/// A model that answers the one token of the prompt with `text`, then with token 24, over and over.
struct Answering {
  explicit Answering(const std::string& text, int64_t context = 1000) : script(script_of(text)), model(script, 1845, context) {}

  static std::vector<int32_t> script_of(const std::string& text) {
    std::vector<int32_t> script = {24};  // script[n] follows n tokens; the prompt has one
    for (const int32_t token : nano_tokenizer().encode(text)) script.push_back(token);
    return script;
  }

  GenerationResult run(GenerationRequest request, const GenerationEvents& events = {}) {
    request.prompt = {5};
    request.sampling.temperature = 0.0;
    if (request.end_ids.empty()) request.end_ids = {2, 24};
    Session session(model);
    return generate(session, nano_tokenizer(), request, events);
  }

  std::vector<int32_t> script;
  ScriptedModel model;
};

TEST(Generation, EndsAtAnEndTokenWhichIsCountedAndNotShown) {
  const GenerationResult result = Answering("Hello there").run({});
  EXPECT_EQ(result.content, "Hello there");
  EXPECT_EQ(result.ids.back(), 24);
  EXPECT_EQ(result.stop_reason, StopReason::end_token);
  EXPECT_EQ(result.prompt_tokens, 1);
}

TEST(Generation, EndsAfterMaxTokens) {
  const GenerationResult result = Answering("Hello there").run({.max_tokens = 2});
  EXPECT_EQ(result.ids.size(), 2u);
  EXPECT_EQ(result.stop_reason, StopReason::max_tokens);
}

TEST(Generation, EndsBeforeAStopStringAcrossTokens) {
  const GenerationResult result = Answering("one two three four").run({.stop_strings = {"o th"}});
  EXPECT_EQ(result.content, "one tw");
  EXPECT_EQ(result.stop_reason, StopReason::stop_string);
}

TEST(Generation, AStopStringCanBeCompletedByHalfACharacter) {
  const GenerationResult result = Answering("caf\xc3\xa9 au lait").run({.stop_strings = {"\xc3\xa9"}});
  EXPECT_EQ(result.content, "caf");
}

TEST(Generation, EndsWhenTheContextIsFull) {
  Answering subject("one two three four", 4);
  const GenerationResult result = subject.run({});
  EXPECT_EQ(result.stop_reason, StopReason::context_full);
  EXPECT_EQ(result.prompt_tokens + static_cast<int64_t>(result.ids.size()), 4);
}

TEST(Generation, PartsReasoningFromContent) {
  std::string shown;
  GenerationEvents events;
  events.piece = [&](const GenerationPiece& piece) { shown += "[" + piece.reasoning + "|" + piece.content + "]"; };
  const GenerationResult result = Answering("hm</think>yes").run({.thinking = true}, events);
  EXPECT_EQ(result.reasoning, "hm");
  EXPECT_EQ(result.content, "yes");
  EXPECT_EQ(shown.find("think"), std::string::npos);
}

TEST(Generation, StreamsWholeCharacters) {
  const std::string text = "a \xf0\x9f\x9a\x80 b \xe6\x97\xa5\xe6\x9c\xac";
  std::string streamed;
  GenerationEvents events;
  events.piece = [&](const GenerationPiece& piece) {
    EXPECT_TRUE(is_valid_utf8(piece.content)) << piece.content;
    streamed += piece.content;
  };
  EXPECT_EQ(Answering(text).run({}, events).content, text);
  EXPECT_EQ(streamed, text);
}

TEST(Generation, APromptBeyondTheContextIsRefusedWithBothNumbers) {
  ScriptedModel model({1}, 1845, 3);
  Session session(model);
  EXPECT_THAT(sentence_of(ErrorKind::invalid,
                          [&] {
                            generate(session, nano_tokenizer(), {.prompt = {1, 2, 3}}, {});
                          }),
              HasSubstr("the prompt has 3 tokens, the context holds 3"));
}

TEST(Generation, RowsThatOnlyPadTheVocabularyAreNeverChosen) {
  ScriptedModel model({24, 1850}, 1900, 100);
  Session session(model);
  GenerationRequest request = {.prompt = {5}, .end_ids = {24}, .max_tokens = 1};
  request.sampling.temperature = 0.0;
  EXPECT_EQ(generate(session, nano_tokenizer(), request, {}).ids, std::vector<int32_t>{0});
}

TEST(Generation, AnEventCanStopIt) {
  int steps = 0;
  GenerationEvents events;
  events.before_step = [&] {
    if (++steps == 3) throw Error(ErrorKind::cancelled, "stopped");
  };
  EXPECT_THAT(sentence_of(ErrorKind::cancelled, [&] { Answering("one two three four").run({}, events); }), "stopped");
}

}  // namespace
}  // namespace lagoon
