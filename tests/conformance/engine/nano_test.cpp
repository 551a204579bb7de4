// What the shipped model says: tests/golden/nano, 40 conversations as transformers renders, encodes and answers them.
#include "base/json.h"
#include "engine/generation.h"
#include "support/model_under_test.h"
#include "text/chat_template.h"
#include "text/jinja/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lagoon {
namespace {

using namespace testing_support;

const std::string nano = LAGOON_SOURCE_DIR "/models/nano";

Json transcripts() { return parse_json(read_text(SystemFiles(), LAGOON_GOLDEN_DIR "/nano/transcripts.json", 1 << 22), "transcripts.json")["cases"]; }

jinja::Value value_of(const Json& json) { return json.is_null() ? jinja::Value::none() : jinja::read_json(json.dump(), "transcript"); }

TEST(Nano, PromptIdsAreTheSame) {
  const ChatTemplate chat = ChatTemplate::load(nano);
  const Tokenizer tokenizer = Tokenizer::load(nano + "/tokenizer.json");
  const Json cases = transcripts();
  ASSERT_EQ(cases.size(), 40u);
  for (const Json& item : cases) {
    const MarkedText text = chat.render({.messages = value_of(item["messages"]), .tools = value_of(item["tools"]), .thinking = item["thinking"]});
    EXPECT_EQ(tokenizer.encode(text), item["prompt_ids"].get<std::vector<int32_t>>()) << text.text();
  }
}

/// Whether the largest logit after each position is the next token of the transcript. The rows of one pass over prompt and
/// answer are bit by bit those of generating it (tests/invariants).
class NanoAnswers : public testing::TestWithParam<Precision> {};

INSTANTIATE_TEST_SUITE_P(Precisions, NanoAnswers, testing::Values(Precision::standard, Precision::oracle),
                         [](const auto& parameter) { return std::string(parameter.param == Precision::oracle ? "oracle" : "standard"); });

TEST_P(NanoAnswers, GreedyIdsAreTheSame) {
  ModelUnderTest subject(nano, {.precision = GetParam(), .threads = 2});
  const int64_t vocabulary = subject.vocabulary();
  const Json cases = transcripts();
  for (size_t number = 0; number < cases.size(); ++number) {
    std::vector<int32_t> tokens = cases[number]["prompt_ids"];
    const std::vector<int32_t> answer = cases[number]["greedy_ids"];
    const size_t first = tokens.size() - 1;
    tokens.insert(tokens.end(), answer.begin(), answer.end());
    const std::vector<float> logits = subject.logits(tokens);
    for (size_t at = 0; at < answer.size(); ++at) {
      const auto row = logits.begin() + static_cast<int64_t>(first + at) * vocabulary;
      ASSERT_EQ(std::max_element(row, row + vocabulary) - row, answer[at]) << "transcript " << number << ", token " << at;
    }
  }
}

TEST(Nano, GenerationGivesTheTranscript) {
  ModelUnderTest subject(nano, {.threads = 2});
  const Tokenizer tokenizer = Tokenizer::load(nano + "/tokenizer.json");
  const Json item = transcripts().front();
  Session session(*subject.model);
  std::string streamed;
  GenerationEvents events;
  events.piece = [&](const GenerationPiece& piece) { streamed += piece.reasoning + piece.content; };

  const GenerationResult result = generate(
      session, tokenizer, {.prompt = item["prompt_ids"], .sampling = {.temperature = 0.0}, .end_ids = {2, 24}, .thinking = item["thinking"]}, events);

  EXPECT_EQ(result.ids, item["greedy_ids"].get<std::vector<int32_t>>());
  EXPECT_EQ(result.reasoning + "</think>" + result.content + "</assistant>", item["text"].get<std::string>());
  EXPECT_EQ(streamed, result.reasoning + result.content);
  EXPECT_EQ(result.stop_reason, StopReason::end_token);
}

}  // namespace
}  // namespace lagoon
