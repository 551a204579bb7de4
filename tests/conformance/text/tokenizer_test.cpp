// Ids, decodings and pieces of Hugging Face tokenizers and transformers; where they come from: tests/golden/tokenizer/README.md.
#include "text/tokenizer.h"
#include "text/tokenizer/tokenizer_json.h"

#include "support/tokenizer_goldens.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lagoon {
namespace {

using testing_support::Ids;
using testing_support::read_json_lines;
using testing_support::read_text;
using testing_support::tokenizer_golden;

class TokenizerGolden : public ::testing::TestWithParam<const char*> {
 protected:
  TokenizerGolden() : tokenizer_(Tokenizer::load(tokenizer_golden(GetParam()))) {}
  Tokenizer tokenizer_;
};

TEST_P(TokenizerGolden, EncodesAndDecodesEveryText) {
  const std::vector<Json> cases = read_json_lines(tokenizer_golden("cases.jsonl"));
  ASSERT_EQ(cases.size(), 5843u);
  size_t plain = 0;
  size_t framed = 0;
  size_t skipped = 0;
  for (const Json& one : cases) {
    const auto text = one["text"].get<std::string>();
    SCOPED_TRACE("case " + one["n"].dump() + " of kind " + one["kind"].dump());
    const Ids ids = one["ids"].get<Ids>();
    ASSERT_EQ(tokenizer_.encode(text), ids);
    ASSERT_EQ(tokenizer_.decode(ids), text);
    if (one.contains("ids_bos")) {
      ASSERT_EQ(tokenizer_.encode(text, true), one["ids_bos"].get<Ids>());
    }
    if (one.contains("ids_plain")) {
      ASSERT_EQ(tokenizer_.encode_data(text), one["ids_plain"].get<Ids>());
    }
    if (one.contains("decoded_skip")) {
      ASSERT_EQ(tokenizer_.decode(ids, true), one["decoded_skip"].get<std::string>());
    }
    plain += one.contains("ids_plain");
    framed += one.contains("ids_bos");
    skipped += one.contains("decoded_skip");
  }
  EXPECT_GT(plain, 100u);
  EXPECT_GT(framed, 100u);
  EXPECT_GT(skipped, 100u);
}

// The pieces themselves: letters and digits of Unicode 15 and 16 would not all show in the ids of a small vocabulary.
TEST_P(TokenizerGolden, CutsTextsIntoTheSamePieces) {
  struct Collected final : PieceSink {
    void take(std::string_view piece) override { pieces.emplace_back(piece); }
    std::vector<std::string> pieces;
  };
  const TokenizerParts parts = read_tokenizer_json(testing_support::read_text(tokenizer_golden(GetParam())), GetParam());
  RegexScratch scratch(size_t{1} << 20);
  size_t compared = 0;
  for (const Json& one : read_json_lines(tokenizer_golden("cases.jsonl"))) {
    if (!one.contains("splits")) continue;
    Collected collected;
    parts.pre_tokenizer.cut(one["text"].get<std::string>(), scratch, collected);
    ASSERT_EQ(collected.pieces, one["splits"].get<std::vector<std::string>>()) << "case " << one["n"] << " of kind " << one["kind"];
    ++compared;
  }
  EXPECT_GT(compared, 100u);
}

TEST_P(TokenizerGolden, MarkedTextWithoutAddedTokensInDataHasTheIdsOfTheText) {
  for (const Json& one : read_json_lines(tokenizer_golden("cases.jsonl"))) {
    const auto text = one["text"].get<std::string>();
    if (one.contains("ids_plain") || tokenizer_.encode_data(text) != tokenizer_.encode(text)) continue;
    MarkedText marked;  // the origin changes in the middle of the text, and again at three quarters
    const size_t middle = text.size() / 2;
    const size_t late = middle + (text.size() - middle) / 2;
    marked.append(text.substr(0, middle), Origin::from_data);
    marked.append(text.substr(middle, late - middle), Origin::from_template);
    marked.append(text.substr(late), Origin::from_data);
    ASSERT_EQ(tokenizer_.encode(marked), one["ids"].get<Ids>()) << "case " << one["n"];
  }
}

void expect_pieces(const Tokenizer& tokenizer, const Json& one, bool skip) {
  const Ids ids = one["ids"].get<Ids>();
  const auto decoded = one[skip ? "decoded_skip" : "decoded"].get<std::string>();
  StreamingDecoder decoder(tokenizer, skip);
  std::string together;
  for (size_t at = 0; at < ids.size(); ++at) {
    const Json& expected = one[skip ? "pieces_skip" : "pieces"][at];
    const std::string piece = decoder.push(ids[at]);
    ASSERT_EQ(piece, expected.is_null() ? "" : expected.get<std::string>()) << "case " << one["n"] << ", token " << at;
    together += piece;
  }
  ASSERT_EQ(together + decoder.flush(), decoded) << "case " << one["n"];
  ASSERT_EQ(tokenizer.decode(ids, skip), decoded) << "case " << one["n"];
}

TEST_P(TokenizerGolden, DecodesEverySequenceAtOnceAndTokenByToken) {
  const std::vector<Json> cases = read_json_lines(tokenizer_golden("decode.jsonl"));
  ASSERT_EQ(cases.size(), 372u);
  for (const Json& one : cases) {
    expect_pieces(tokenizer_, one, false);
    if (one.contains("decoded_skip")) expect_pieces(tokenizer_, one, true);
  }
}

INSTANTIATE_TEST_SUITE_P(BothSpellingsOfMerges, TokenizerGolden, ::testing::Values("tokenizer.json", "tokenizer_reserialised.json"),
                         [](const auto& spelling) { return std::string(spelling.param, std::string_view(spelling.param).find('.')); });

TEST(TokenizerComponents, AnotherPreTokenizerGivesItsOwnIds) {
  Json file = parse_json(read_text(tokenizer_golden("tokenizer.json")), "tokenizer.json");
  file["pre_tokenizer"] = parse_json(read_text(tokenizer_golden("pre_tokenizer_mistral_fix.json")), "pre_tokenizer");
  const Tokenizer tokenizer = Tokenizer::parse(file.dump(), "tokenizer.json");
  const std::vector<Json> cases = read_json_lines(tokenizer_golden("cases_mistral_fix.jsonl"));
  ASSERT_EQ(cases.size(), 103u);
  for (const Json& one : cases) ASSERT_EQ(tokenizer.encode(one["text"].get<std::string>()), one["ids"].get<Ids>()) << "case " << one["n"];
}

TEST(TokenizerComponents, EachDoesWhatThePackageDoes) {
  const std::vector<Json> lines = read_json_lines(tokenizer_golden("components.jsonl"));
  ASSERT_GT(lines.size(), 150u);
  const Json& base = lines.front()["base"];
  for (size_t line = 1; line < lines.size(); ++line) {
    Json file = base;
    for (const auto& [key, value] : lines[line]["overrides"].items()) {
      if (key != "model") {
        file[key] = value;
      } else {
        for (const auto& [option, setting] : value.items()) file["model"][option] = setting;
      }
    }
    const Tokenizer tokenizer = Tokenizer::parse(file.dump(), "components.jsonl");
    for (const Json& one : lines[line]["cases"]) {
      SCOPED_TRACE(lines[line]["name"].get<std::string>() + ", text " + one["text"].dump());
      const auto text = one["text"].get<std::string>();
      const Ids ids = one["ids"].get<Ids>();
      EXPECT_EQ(tokenizer.encode(text), ids);
      EXPECT_EQ(tokenizer.encode(text, true), one["ids_bos"].get<Ids>());
      EXPECT_EQ(tokenizer.decode(ids), one["decoded"].get<std::string>());
      EXPECT_EQ(tokenizer.decode(ids, true), one["decoded_skip"].get<std::string>());
    }
  }
}

/// The text of a rendered chat with the strings of its messages marked as data, found in the order in which they are rendered.
class ChatMarker {
 public:
  ChatMarker(const Tokenizer& tokenizer, const Json& chat) : tokenizer_(tokenizer), text_(chat["rendered"].get<std::string>()) {
    for (const Json& message : chat["messages"]) mark_message(message);
    if (chat.contains("tools")) mark_tools();
  }

  MarkedText marked() {
    std::sort(data_.begin(), data_.end());
    MarkedText out;
    size_t done = 0;
    for (const auto& [begin, end] : data_) {
      out.append(text_.substr(done, begin - done), Origin::from_template);
      out.append(text_.substr(begin, end - begin), Origin::from_data);
      done = end;
    }
    out.append(text_.substr(done), Origin::from_template);
    return out;
  }

 private:
  void skip(std::string_view opening) {
    const size_t found = text_.find(opening, at_);
    if (found != std::string::npos) at_ = found + opening.size();
  }

  /// As skip(), unless the message ends first.
  void skip_in_message(std::string_view opening) {
    if (text_.find(opening, at_) < text_.find("</assistant>", at_)) skip(opening);
  }

  void mark(const Json& value) {
    if (value.is_object()) {
      for (const auto& [key, inner] : value.items()) {
        skip("<arg_value>");
        mark(inner);
      }
    }
    if (!value.is_string()) return;
    std::string data = value.get<std::string>();
    const char* blanks = " \t\r\n";
    if (data.find_first_not_of(blanks) == std::string::npos) return;
    data = data.substr(data.find_first_not_of(blanks), data.find_last_not_of(blanks) + 1 - data.find_first_not_of(blanks));
    const size_t found = text_.find(data, at_);
    if (found == std::string::npos) return;
    at_ = found + data.size();
    if (tokenizer_.encode(data) != tokenizer_.encode_data(data)) data_.emplace_back(found, at_);
  }

  void mark_message(const Json& message) {
    const auto role = message["role"].get<std::string>();
    skip(role == "tool" ? "<tool_response>\n" : "<" + role + ">");
    for (const char* key : {"reasoning_content", "reasoning"}) {
      if (!message.contains(key)) continue;
      skip("<think>");
      mark(message[key]);
    }
    if (role == "assistant") skip_in_message("</think>");
    if (message.contains("content")) mark(message["content"]);
    for (const Json& call : message.value("tool_calls", Json::array())) {
      skip("<tool_call>");
      mark(call["function"]["name"]);
      mark(call["function"]["arguments"]);
    }
  }

  void mark_tools() {
    constexpr std::string_view opening = "<available_tools>\n";
    const size_t begin = text_.find(opening);
    const size_t end = text_.find("\n</available_tools>");
    if (begin != std::string::npos && end != std::string::npos) data_.emplace_back(begin + opening.size(), end);
  }

  const Tokenizer& tokenizer_;
  std::string text_;
  size_t at_ = 0;
  std::vector<std::pair<size_t, size_t>> data_;
};

TEST(TokenizerChats, AddedTokensInMessagesStayText) {
  const std::filesystem::path file = std::filesystem::path(LAGOON_PUBLISHER_TEMPLATES) / "chat_ids.jsonl";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << file << " is absent: its chats are rendered from the publisher's templates, which are not part of this repository";
  }
  const Tokenizer tokenizer = Tokenizer::load(tokenizer_golden("tokenizer.json"));
  size_t sanitised = 0;
  for (const Json& chat : read_json_lines(file)) {
    const auto rendered = chat["rendered"].get<std::string>();
    EXPECT_EQ(tokenizer.encode(rendered), chat["ids"].get<Ids>()) << "chat " << chat["n"];
    const Json& expected = chat.contains("ids_sanitised") ? chat["ids_sanitised"] : chat["ids"];
    sanitised += chat.contains("ids_sanitised");
    EXPECT_EQ(tokenizer.encode(ChatMarker(tokenizer, chat).marked()), expected.get<Ids>()) << "chat " << chat["n"] << ": " << rendered;
  }
  EXPECT_GT(sanitised, 10u);
}

}  // namespace
}  // namespace lagoon
