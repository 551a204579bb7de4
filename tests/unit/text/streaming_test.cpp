// stop strings and the reasoning splitter: whatever the cut, the same result.
#include "support/sentence_of.h"
#include "text/reasoning_splitter.h"
#include "text/stop_strings.h"

#include <gmock/gmock.h>

#include <random>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::sentence_of;

/// Pieces of `text` with random borders.
std::vector<std::string> random_pieces(const std::string& text, std::mt19937& random) {
  std::vector<std::string> pieces;
  for (size_t at = 0; at < text.size();) {
    const size_t length = std::uniform_int_distribution<size_t>(0, 4)(random);
    pieces.push_back(text.substr(at, length));
    at += length;
  }
  return pieces;
}

std::string stopped_text(const std::vector<std::string>& strings, const std::vector<std::string>& pieces) {
  StopStrings stops(strings);
  std::string text;
  for (const std::string& piece : pieces) text += stops.push(piece);
  return text + stops.finish() + (stops.stopped() ? "|" : "");
}

TEST(StopStrings, EndTheTextBeforeThem) {
  EXPECT_EQ(stopped_text({"END"}, {"one END two"}), "one |");
  EXPECT_EQ(stopped_text({"END"}, {"one EN"}), "one EN");
  EXPECT_EQ(stopped_text({}, {"one"}), "one");
}

TEST(StopStrings, TheFirstToBeCompletedWinsAndOfThoseTheLongest) {
  EXPECT_EQ(stopped_text({"cd", "bcde"}, {"abcdef"}), "ab|");
  EXPECT_EQ(stopped_text({"cd", "bcd"}, {"abcdef"}), "a|");
}

TEST(StopStrings, TextIsHeldBackOnlyWhileItCouldBeOne) {
  StopStrings stops({"aab"});
  EXPECT_EQ(stops.push("xa"), "x");
  EXPECT_EQ(stops.push("a"), "");
  EXPECT_EQ(stops.push("a"), "a");
  EXPECT_EQ(stops.push("c"), "aac");
}

TEST(StopStrings, DoNotDependOnTheCut) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int at = 0; at < 12; ++at) text += static_cast<char>('a' + random() % 2);
    std::vector<std::string> strings;
    for (size_t count = random() % 3 + 1; count > 0; --count)
      strings.push_back(text.substr(random() % 10, random() % 3 + 1) + (random() % 2 ? "b" : ""));
    std::vector<std::string> single;
    for (const char c : text) single.emplace_back(1, c);
    const std::string expected = stopped_text(strings, single);
    ASSERT_EQ(stopped_text(strings, random_pieces(text, random)), expected) << text;
    ASSERT_EQ(stopped_text(strings, {text}), expected) << text;
  }
}

TEST(StopStrings, CrossCharacterBorders) { EXPECT_EQ(stopped_text({"\xc3\xa9t"}, {"caf\xc3", "\xa9", "t\xc3\xa9"}), "caf|"); }

TEST(StopStrings, AnEmptyOneIsRefused) {
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [] { StopStrings stops({"a", ""}); }), HasSubstr("empty"));
}

std::pair<std::string, std::string> split(bool thinking, const std::vector<std::string>& pieces) {
  ReasoningSplitter splitter(thinking);
  std::pair<std::string, std::string> both;
  const auto add = [&](const ReasoningSplitter::Parts& parts) {
    both.first += parts.reasoning;
    both.second += parts.content;
  };
  for (const std::string& piece : pieces) add(splitter.push(piece));
  add(splitter.finish());
  return both;
}

using Both = std::pair<std::string, std::string>;

TEST(ReasoningSplitter, ReasoningEndsAtTheFirstClosingTag) {
  EXPECT_EQ(split(true, {"a</think>b</think>c"}), (Both{"a", "b</think>c"}));
  EXPECT_EQ(split(true, {"a</thin"}), (Both{"a</thin", ""}));
  EXPECT_EQ(split(true, {"</think>b"}), (Both{"", "b"}));
}

TEST(ReasoningSplitter, ALeadingOpeningTagIsDropped) {
  EXPECT_EQ(split(true, {"<think>a</think>b"}), (Both{"a", "b"}));
  EXPECT_EQ(split(true, {"<th"}), (Both{"<th", ""}));
  EXPECT_EQ(split(true, {"x<think>a"}), (Both{"x<think>a", ""}));
}

TEST(ReasoningSplitter, WithoutThinkingEverythingIsContent) { EXPECT_EQ(split(false, {"a</think>b"}), (Both{"", "a</think>b"})); }

TEST(ReasoningSplitter, DoesNotDependOnTheCut) {
  std::mt19937 random(11);
  for (const std::string text : {"<think>one </thi </think> two <think></think>", "<thinker</think", "</think", "<think></think>"}) {
    for (const bool thinking : {true, false}) {
      for (int round = 0; round < 200; ++round) ASSERT_EQ(split(thinking, random_pieces(text, random)), split(thinking, {text})) << text;
    }
  }
}

}  // namespace
}  // namespace lagoon
