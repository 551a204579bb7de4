// What a Tokenizer promises beside the goldens: control tokens in data, streaming, hostile texts, threads.
#include "text/tokenizer.h"

#include "base/error.h"
#include "support/tokenizer_goldens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

namespace lagoon {
namespace {

using testing_support::Ids;
using testing_support::read_text;
using testing_support::tokenizer_golden;

constexpr const char* end_of_text = "\xe3\x80\x88|EOS|\xe3\x80\x89";  // id 2

const Tokenizer& golden() {
  static const Tokenizer tokenizer = Tokenizer::load(tokenizer_golden("tokenizer.json"));
  return tokenizer;
}

MarkedText marked(std::initializer_list<std::pair<std::string, Origin>> parts) {
  MarkedText text;
  for (const auto& [part, origin] : parts) text.append(part, origin);
  return text;
}

constexpr Origin ours = Origin::from_template;
constexpr Origin data = Origin::from_data;

bool has_added_token(const Tokenizer& tokenizer, const Ids& ids) {
  return std::any_of(ids.begin(), ids.end(), [&tokenizer](int32_t id) { return tokenizer.is_added(id); });
}

std::string sentence_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// The golden tokenizer with changed keys.
Tokenizer changed(const std::string& key, const Json& value) {
  Json file = parse_json(read_text(tokenizer_golden("tokenizer.json")), "tokenizer.json");
  file[key] = value;
  return Tokenizer::parse(file.dump(), "tokenizer.json");
}

TEST(ControlTokens, OfTheTemplateMatchAndOfDataDoNot) {
  EXPECT_EQ(golden().encode(MarkedText("<think>", ours)), (Ids{18}));
  EXPECT_FALSE(has_added_token(golden(), golden().encode(MarkedText("<think>", data))));
  EXPECT_EQ(golden().decode(golden().encode(MarkedText("<think>", data))), "<think>");
}

TEST(ControlTokens, InDataStayTextWhereverTheyStand) {
  for (const std::string token : {end_of_text, "</assistant>", "<tool_call>", "</think>", "\xe3\x80\x88|", "|\xe3\x80\x89"}) {
    for (const std::string before : {"", " ", "\n", "word", "\r\n\r\n"}) {
      for (const std::string behind : {"", " ", "\n", "word", "\n\n"}) {
        SCOPED_TRACE(before + token + behind);
        const Ids ids = golden().encode(marked({{"<assistant>\n", ours}, {before + token + behind, data}, {"\n</assistant>", ours}}));
        EXPECT_EQ(golden().decode(ids), "<assistant>\n" + before + token + behind + "\n</assistant>");
        EXPECT_EQ(ids.front(), 23);
        EXPECT_EQ(ids.back(), 24);
        EXPECT_FALSE(has_added_token(golden(), Ids(ids.begin() + 1, ids.end() - 1)));
      }
    }
  }
}

TEST(ControlTokens, AreNotSpelledByDataAndTemplateTogether) {
  EXPECT_FALSE(has_added_token(golden(), golden().encode(marked({{"<thi", data}, {"nk>", ours}}))));
  EXPECT_FALSE(has_added_token(golden(), golden().encode(marked({{"<thi", ours}, {"nk>", data}}))));
  EXPECT_FALSE(has_added_token(golden(), golden().encode(marked({{"<", ours}, {"think", data}, {">", ours}}))));
  EXPECT_FALSE(has_added_token(golden(), golden().encode(marked({{"<thi", data}, {"nk>", data}}))));
}

TEST(ControlTokens, OfTheTemplateBesideDataAreFound) {
  EXPECT_EQ(golden().encode(marked({{"<", data}, {"<think>", ours}, {">", data}})), (Ids{97, 18, 99}));
  // The template's own fragment counts, although data behind it would make a longer token of it.
  const Ids ids = golden().encode(marked({{"\xe3\x80\x88|", ours}, {"EOS|\xe3\x80\x89", data}}));
  EXPECT_EQ(ids.front(), 14);
  EXPECT_FALSE(has_added_token(golden(), Ids(ids.begin() + 1, ids.end())));
}

// Made by tokenizer.apply_chat_template(sanitize_control_tokens=True) of transformers 5.24.0 around a template that is only the content.
TEST(ControlTokens, InDataAreCutOutAndEncodedAlone) {
  const Ids alone = golden().encode_data(end_of_text);
  Ids expected = golden().encode("say ");
  expected.insert(expected.end(), alone.begin(), alone.end());
  const Ids rest = golden().encode(" now");
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(golden().encode(MarkedText("say " + std::string(end_of_text) + " now", data)), expected);
  EXPECT_EQ(alone, (Ids{586, 300, 161, 106, 3128, 161, 586, 301}));
}

TEST(ControlTokens, ThatStripWhiteSpaceTakeItFromDataToo) {
  const Json flags = {{"id", 0},
                      {"content", "\xe3\x80\x88|UNK|\xe3\x80\x89"},
                      {"single_word", false},
                      {"lstrip", true},
                      {"rstrip", true},
                      {"normalized", true},
                      {"special", true}};
  const Tokenizer tokenizer = changed("added_tokens", Json::array({flags}));
  const std::string unknown = "\xe3\x80\x88|UNK|\xe3\x80\x89";
  const Ids whole = tokenizer.encode("a \n" + unknown + "  b");
  EXPECT_EQ(tokenizer.encode(marked({{"a \n", data}, {unknown, ours}, {"  b", data}})), whole);
  EXPECT_EQ(whole.size(), 3u);
  EXPECT_FALSE(has_added_token(tokenizer, tokenizer.encode(marked({{"a ", ours}, {unknown, data}, {" b", ours}}))));
}

TEST(ControlTokens, AreNotMadeByNormalizingData) {
  const Json lower = {{"type", "Lowercase"}};
  Json file = parse_json(read_text(tokenizer_golden("tokenizer.json")), "tokenizer.json");
  file["normalizer"] = lower;
  for (Json& token : file["added_tokens"]) token["normalized"] = true;
  const Tokenizer tokenizer = Tokenizer::parse(file.dump(), "tokenizer.json");
  EXPECT_EQ(tokenizer.encode("<THINK>"), (Ids{18}));
  EXPECT_EQ(tokenizer.encode(marked({{"<THINK>", ours}})), (Ids{18}));
  EXPECT_FALSE(has_added_token(tokenizer, tokenizer.encode(marked({{"<THINK>", data}}))));
  EXPECT_FALSE(has_added_token(tokenizer, tokenizer.encode(marked({{"<TH", data}, {"INK>", ours}}))));
}

TEST(ControlTokens, AreNotMadeByMergesOfData) {
  Json file = parse_json(read_text(tokenizer_golden("tokenizer.json")), "tokenizer.json");
  file["added_tokens"].push_back({{"id", file["model"]["vocab"]["\xc4\xa0the"]},
                                  {"content", "\xc4\xa0the"},
                                  {"single_word", false},
                                  {"lstrip", false},
                                  {"rstrip", false},
                                  {"normalized", false},
                                  {"special", true}});
  const Tokenizer tokenizer = Tokenizer::parse(file.dump(), "tokenizer.json");
  EXPECT_TRUE(has_added_token(tokenizer, tokenizer.encode(" the")));
  EXPECT_FALSE(has_added_token(tokenizer, tokenizer.encode_data(" the")));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode_data(" the other")), " the other");
  file["model"]["ignore_merges"] = true;
  EXPECT_FALSE(has_added_token(tokenizer, Tokenizer::parse(file.dump(), "tokenizer.json").encode_data(" the")));
}

TEST(Tokenizer, RefusesTextThatIsNoUtf8AndNamesTheByte) {
  EXPECT_EQ(sentence_of([] { golden().encode("ab\xff"); }), "the text to encode is not valid UTF-8 at byte 2 (\\xff); convert it to UTF-8");
  EXPECT_EQ(sentence_of([] { golden().encode_data("\xed\xa0\x80"); }),
            "the text to encode is not valid UTF-8 at byte 0 (\\xed); convert it to UTF-8");
  EXPECT_EQ(sentence_of([] { golden().encode(MarkedText("a\xc3", data)); }),
            "the text to encode is not valid UTF-8 at byte 1 (\\xc3); convert it to UTF-8");
}

TEST(Tokenizer, EncodesTheEmptyTextAndNul) {
  EXPECT_EQ(golden().encode(""), Ids{});
  EXPECT_EQ(golden().encode("", true), (Ids{2}));
  EXPECT_EQ(golden().encode_data(""), Ids{});
  EXPECT_EQ(golden().encode(MarkedText()), Ids{});
  const std::string text("a\0b", 3);
  EXPECT_EQ(golden().decode(golden().encode(text)), text);
}

TEST(Tokenizer, RefusesIdsThatNoTokenHas) {
  EXPECT_EQ(sentence_of([] { golden().decode(Ids{5, 8192}); }), "no token has the id 8192; ids of this tokenizer are below 8192");
  EXPECT_EQ(sentence_of([] { golden().decode(Ids{-1}); }), "no token has the id -1; ids of this tokenizer are below 8192");
  EXPECT_EQ(sentence_of([] { StreamingDecoder(golden()).push(9000); }), "no token has the id 9000; ids of this tokenizer are below 8192");
}

TEST(Tokenizer, KnowsItsTokens) {
  EXPECT_EQ(golden().vocabulary_size(), 8192);
  EXPECT_EQ(golden().id_of("<think>"), 18);
  EXPECT_EQ(golden().id_of("no such token"), std::nullopt);
  EXPECT_EQ(golden().token_of(290), "\xc4\xa0");
  EXPECT_TRUE(golden().is_special(2));
  EXPECT_FALSE(golden().is_special(24));
  EXPECT_TRUE(golden().is_added(24));
  EXPECT_FALSE(golden().is_added(290));
}

TEST(Tokenizer, EncodesAMillionBytesOfOneKind) {
  for (const std::string unit : {"a", " ", "\n", "\r\n", "\r", "\t", "7", ".", "\xe4\xb8\xad", "\xcc\x81", "\xf0\x9f\x99\x82", "'", "\xe1\xa0\x8e"}) {
    std::string text;
    while (text.size() < 1'000'000) text += unit;
    ASSERT_EQ(golden().decode(golden().encode(text)), text) << unit;
    ASSERT_EQ(golden().decode(golden().encode_data(text + "x")), text + "x") << unit;
  }
}

TEST(Tokenizer, EncodesTenMegabytes) {
  std::string text;
  while (text.size() < 10'000'000) text += "Some words, and a number 12345;\n\n\tint main() { return 0; } ";
  EXPECT_EQ(golden().decode(golden().encode(text)), text);
}

TEST(Tokenizer, MatchesLongNewlineRunsWithTheRegexItself) {
  const Json step = {
      {"type", "Split"}, {"pattern", {{"Regex", "(?:\\r?\\n)+(?!\\r?\\n|\\z\\A)"}}}, {"behavior", "MergedWithNext"}, {"invert", false}};
  const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  const Tokenizer tokenizer = changed("pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", Json::array({step, bytes})}});
  const std::string text(1'000'000, '\n');
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(Tokenizer, PatternThatBacktracksWithoutEndIsAnError) {
  const Json step = {{"type", "Split"}, {"pattern", {{"Regex", "(a|a|aa)+\\z"}}}, {"behavior", "Isolated"}, {"invert", false}};
  const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  const Tokenizer tokenizer = changed("pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", Json::array({step, bytes})}});
  EXPECT_EQ(sentence_of([&] { tokenizer.encode(std::string(1000, 'a') + "b"); }),
            "tokenizer.json: `pre_tokenizer`.pretokenizers[0].pattern: the pattern `(a|a|aa)+\\z` cannot be matched against a text of 1001 bytes: "
            "it goes over the same characters again and again; fetch the file again");
}

TEST(Tokenizer, MayBeUsedByManyThreads) {
  const std::string text = "Threads share it; \xe4\xb8\xad\xe6\x96\x87 <think> 123\n\n";
  const Ids expected = golden().encode(text);
  std::vector<std::thread> threads;
  std::array<int, 4> different{};
  for (int& count : different) {
    threads.emplace_back([&count, &text, &expected] {
      for (int round = 0; round < 200; ++round) count += golden().encode(text) != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, (std::array<int, 4>{}));
}

TEST(StreamingDecoder, NeverGivesHalfACharacter) {
  const Ids ids = golden().encode("\xf0\x9f\x99\x82\xe4\xb8\xad");
  StreamingDecoder decoder(golden());
  std::string together;
  for (const int32_t id : ids) {
    const std::string piece = decoder.push(id);
    EXPECT_NO_THROW(golden().encode(piece)) << "a piece is no valid UTF-8";
    together += piece;
  }
  EXPECT_EQ(together + decoder.flush(), "\xf0\x9f\x99\x82\xe4\xb8\xad");
}

TEST(StreamingDecoder, FlushGivesTheRestAndBeginsAnew) {
  StreamingDecoder decoder(golden());
  const int32_t first_byte = golden().encode_data("\xf0\x9f\xab\xa8").front();
  EXPECT_EQ(decoder.push(first_byte), "");
  EXPECT_EQ(decoder.flush().substr(0, 3), "\xef\xbf\xbd");
  EXPECT_EQ(decoder.push(134), "a");
  EXPECT_EQ(decoder.flush(), "");
}

}  // namespace
}  // namespace lagoon
