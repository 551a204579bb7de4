// What is a message and what a command, and what is said of it where it fails.
#include "terminal/chat_on_terminal.h"

#include "base/json.h"
#include "support/run_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::ChatOnTerminal;
using testing_support::file_text;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;

std::string pasted(const std::string& text) { return "\x1b[200~" + text + "\x1b[201~"; }

ProgramRun chat(const std::string& input, std::vector<std::string> flags = {}) {
  flags.insert(flags.begin(), {"chat", "nano", "--thinking", "off", "--temperature", "0"});
  return run_lagoon(flags, {.input = input});
}

TEST(TerminalMessages, APasteIsSentAsItIsEvenWhereItLooksLikeACommand) {
  ChatOnTerminal chat({"--thinking", "off"});
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say(pasted("// a comment\nint x;"), "\n"));
  ASSERT_TRUE(chat.say(pasted("/quit\nfoo"), "\n"));
  ASSERT_TRUE(chat.say(pasted("/usr/bin/env"), "\n"));
  const auto file = chat.home.path() / "talk.json";
  ASSERT_TRUE(chat.say(pasted("/save " + file.string()), "6 messages saved"));  // one line with the name of a command is one
  const Json messages = Json::parse(file_text(file));
  EXPECT_EQ(messages[0]["content"], "// a comment\nint x;");
  EXPECT_EQ(messages[2]["content"], "/quit\nfoo");
  EXPECT_EQ(messages[4]["content"], "/usr/bin/env");
}

TEST(TerminalMessages, CommandsWithoutArgumentsRefuseThem) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  EXPECT_TRUE(chat.say("/quit now", "/quit takes nothing behind it, `now` was found"));
  EXPECT_TRUE(chat.say("/clear x", "/clear takes nothing behind it"));
}

TEST(TerminalMessages, RetryAnswersTheResultOfATool) {
  const TemporaryFolder folder;
  const auto file = folder.write("tools.json", R"([{"role": "user", "content": "What is 6 * 7?"},
      {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"x": 1}}}]},
      {"role": "tool", "content": "42"}])");
  const auto saved = folder.path() / "saved.json";
  const ProgramRun run = chat("/retry\n/save " + saved.string() + "\n", {"--load", file});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_THAT(run.output, HasSubstr("/retry answers it"));
  const Json messages = Json::parse(file_text(saved));
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[2]["role"], "tool");
  EXPECT_EQ(messages[3]["role"], "assistant");
}

TEST(TerminalMessages, WhereNobodyTypesTheExitCodeSaysThatSomethingFailed) {
  EXPECT_EQ(chat("hi\n").exit_code, 0);
  EXPECT_EQ(chat("/load nofile\nhi\n").exit_code, 2);
  EXPECT_EQ(chat("h\xffi\n").exit_code, 2);
  EXPECT_EQ(chat("/foo\nhi\n").exit_code, 2);
  EXPECT_EQ(chat("hi\n/save /nonexistent/x.json\n").exit_code, 2);
  EXPECT_THAT(chat("hi\n/save /nonexistent/x.json\n").error, HasSubstr("there is no folder /nonexistent; make it first"));
  EXPECT_THAT(chat("hi\n/save /tmp\n").error, HasSubstr("this is a folder; name a file"));
}

TEST(TerminalMessages, ARefusalForWantOfContextSaysWhatCanBeDone) {
  const ProgramRun run = chat("What is 17 * 24?\nWhat is 13 * 24?\nWhat is 18 * 24? And what is 12 * 24? And 11 * 24?\n", {"--context", "64"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.error, HasSubstr("/clear begins a new conversation, and a start with --context 128 --load FILE"));
  // Said when another turn would not fit, while there is room left.
  const ProgramRun near = chat("What is 17 * 24?\n", {"--context", "80"});
  EXPECT_THAT(near.error, HasSubstr("the context is nearly full"));
}

TEST(TerminalMessages, NamesOfFilesMayStandInQuotes) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "my talk.json";
  EXPECT_EQ(chat("hi\n/save \"" + file.string() + "\"\n/load '" + file.string() + "'\n").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(TerminalMessages, WhatIsWrongWithMessagesNamesTheirFile) {
  const TemporaryFolder folder;
  const std::string file = folder.write("wrong.json", "[1]");
  EXPECT_THAT(chat("hi\n", {"--load", file}).error, HasSubstr("wrong.json: `messages[0]`"));
  EXPECT_THAT(run_lagoon({"generate", "nano", "--messages", file}).error, HasSubstr("wrong.json: `messages[0]`"));
  EXPECT_THAT(run_lagoon({"render", "nano", "--messages", file}).error, HasSubstr("wrong.json: `messages[0]`"));
}

TEST(TerminalMessages, GenerateSaysThatMaxTokensCutTheAnswer) {
  EXPECT_THAT(run_lagoon({"generate", "nano", "hi", "--max-tokens", "2"}).error, HasSubstr("the answer is cut at --max-tokens 2"));
  EXPECT_EQ(run_lagoon({"generate", "nano", "hi", "--max-tokens", "2", "--quiet"}).error, "");
}

}  // namespace
}  // namespace lagoon
