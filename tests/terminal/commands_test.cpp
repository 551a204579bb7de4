// What stands behind a slash, what is kept and reused, and what a chat does where there is no terminal.
#include "base/json.h"
#include "support/run_program.h"
#include "terminal/chat_on_terminal.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing_support::ChatOnTerminal;
using testing_support::endless;
using testing_support::file_text;
using testing_support::ProgramRun;
using testing_support::run_lagoon;
using testing_support::TemporaryFolder;

const char* const question = "Which month comes after May?";
const char* const answer = "June comes after May.";

TEST(TerminalCommands, HelpListsThemAndUnknownOnesSayWhatThereIs) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  EXPECT_TRUE(chat.say("/help", "/stats"));
  chat->mark();
  EXPECT_TRUE(chat.say("/frobnicate", "`/frobnicate` is no command"));
  for (const char* name : {"/help", "/clear", "/system", "/thinking", "/retry", "/edit", "/save", "/load", "/stats", "/quit"})
    EXPECT_THAT(chat->output(), HasSubstr(name));
  chat->type("/st\t");
  EXPECT_TRUE(chat->wait_for("> /stats\n"));
}

TEST(TerminalCommands, TabCompletesFilesAndWords) {
  ChatOnTerminal chat;
  std::filesystem::create_directory(chat.home.path() / "talks");
  for (const char* name : {"talks/one june.json", "talks/one july.json", "talks/.hidden", "talks/bad\nname"}) chat.home.write(name, "[]");
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("/load ~/ta\t");
  EXPECT_TRUE(chat->wait_for("> /load ~/talks/\n"));
  chat->type("\t");
  EXPECT_TRUE(chat->wait_for("> /load ~/talks/one ju\none july.json  one june.json\n"));
  chat->type("n\t");
  EXPECT_TRUE(chat->wait_for("> /load ~/talks/one june.json\n"));
  chat->type("\x15/save " + (chat.home.path() / "talks/.h").string() + "\t");
  EXPECT_TRUE(chat->wait_until([&] { return chat->screen().find("talks/.hidden") != std::string::npos; }));
  chat->type("\x15/load no-such-file\t");
  EXPECT_TRUE(chat->wait_for("> /load no-such-file\n"));
  chat->type("\x15/thinking s\t");
  EXPECT_TRUE(chat->wait_for("> /thinking show\n"));
  EXPECT_TRUE(chat.say("", "shown"));
}

TEST(TerminalCommands, ASecondTurnProcessesOnlyWhatIsNew) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say("What is 17 * 24?", "= 408"));
  ASSERT_TRUE(chat.say("/stats", "109 of 4,096 tokens"));
  ASSERT_TRUE(chat.say(question, answer));
  EXPECT_TRUE(chat.say("/stats", "108 tokens reused, 14 processed"));
  EXPECT_TRUE(chat.say("/retry", answer));
  EXPECT_TRUE(chat.say("/stats", "121 tokens reused, 1 processed"));
  EXPECT_TRUE(chat.say("/clear", "a new conversation begins"));
  EXPECT_TRUE(chat.say("/stats", "0 of 4,096 tokens"));
}

TEST(TerminalCommands, EditBringsTheLastMessageBack) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say(question, answer));
  chat->mark();
  chat->type("/edit\r");
  ASSERT_TRUE(chat->wait_until([&] { return chat->row(chat->cursor_row()) == std::string("> ") + question; }));
  chat->type("\x7f\x17June?\r");
  EXPECT_TRUE(chat->wait_for_output("comes after June."));
  ASSERT_TRUE(chat->wait_for_prompt());
  const auto file = chat.home.path() / "talk.json";
  ASSERT_TRUE(chat.say("/save " + file.string(), "2 messages saved"));
  EXPECT_THAT(file_text(file), Not(HasSubstr("after May?")));
}

TEST(TerminalCommands, AnEditThatIsGivenUpReplacesNothing) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say(question, answer));
  chat->type("/edit\r");
  ASSERT_TRUE(chat->wait_until([&] { return chat->row(chat->cursor_row()) == std::string("> ") + question; }));
  chat->type("\x03");
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say("hi", "Hello"));
  EXPECT_TRUE(chat.say("/save " + (chat.home.path() / "talk.json").string(), "4 messages saved"));
}

TEST(TerminalCommands, AFoldedLineFitsANarrowTerminal) {
  std::vector<std::string> flags = {"--fold-thinking", "--kernels", "scalar", "--threads", "1"};
  ChatOnTerminal chat(flags, {.rows = 10, .columns = 20});
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say("What is 17 * 24?", "= 408"));
  EXPECT_THAT(chat->screen(), HasSubstr("> What is 17 * 24?\nthought for"));
}

TEST(TerminalCommands, ThinkingIsDimmedFoldedUnfoldedAndSwitched) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say(question, answer));
  EXPECT_THAT(chat->output(), HasSubstr("\x1b[2mMay is month 5.\x1b[0m"));
  ASSERT_TRUE(chat.say("/thinking fold", "folded"));
  ASSERT_TRUE(chat.say("What is 17 * 24?", "= 408"));
  EXPECT_THAT(chat->screen(), HasSubstr("thought for "));
  EXPECT_THAT(chat->screen(), Not(HasSubstr("340 + 68")));
  EXPECT_TRUE(chat.say("/thinking", "340 + 68"));
  ASSERT_TRUE(chat.say("/thinking off", "without thinking"));
  ASSERT_TRUE(chat.say("/thinking show", "off and shown"));
  chat->mark();
  ASSERT_TRUE(chat.say(question, answer));
  EXPECT_TRUE(chat.say("/thinking maybe", "write on, off, show, fold"));
}

TEST(TerminalCommands, NoColorAndDumbTerminalsGetNoStyles) {
  ChatOnTerminal plain({}, {.environment = {"NO_COLOR=1"}});
  ASSERT_TRUE(plain->wait_for_prompt());
  ASSERT_TRUE(plain.say(question, answer));
  EXPECT_THAT(plain->output(), HasSubstr("<think>May is month 5.</think>"));
  plain->type("\x04");
  EXPECT_EQ(plain->exit_code(), 0);
  for (const char* style : {"\x1b[0m", "\x1b[2m"}) EXPECT_THAT(plain->output(), Not(HasSubstr(style)));
  for (const char* term : {"TERM=dumb", "TERM"}) {
    ChatOnTerminal dumb({}, {.environment = {term}});
    ASSERT_TRUE(dumb->wait_for_output("> "));
    dumb->type(std::string(question) + "\n");
    EXPECT_TRUE(dumb->wait_for_output(answer));
    EXPECT_THAT(dumb->output(), Not(HasSubstr("\x1b")));
    dumb->type("\x04");
    EXPECT_EQ(dumb->exit_code(), 0);
    EXPECT_TRUE(dumb->is_restored());
  }
}

TEST(TerminalCommands, ASavedConversationIsLoadedAndReadByGenerate) {
  ChatOnTerminal chat({"--system", "Answer briefly."});
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say(question, ""));
  const auto file = (chat.home.path() / "talk.json").string();
  ASSERT_TRUE(chat.say("/save ~/talk.json", "3 messages saved"));
  const Json saved = parse_json(file_text(file), "talk.json");
  EXPECT_EQ(saved.at(0), Json::parse(R"({"role": "system", "content": "Answer briefly."})"));
  EXPECT_EQ(saved.at(1).at("content"), question);
  EXPECT_TRUE(saved.at(2).contains("reasoning_content"));
  EXPECT_EQ(run_lagoon({"generate", "nano", "--messages", file}).exit_code, 0);

  const auto other = chat.home.write("other.json", "precious");
  EXPECT_TRUE(chat.say("/save " + other.string(), "there is such a file already"));
  EXPECT_EQ(file_text(other), "precious");
  EXPECT_TRUE(chat.say("/save! " + other.string(), "3 messages saved"));
  EXPECT_TRUE(chat.say("/save " + chat.home.path().string() + "/./other.json", "3 messages saved"));
  EXPECT_TRUE(chat.say("/save ~", "this is a folder"));
  EXPECT_TRUE(chat.say("/save /no/such/folder/x.json", "there is no folder /no/such/folder; make it first"));

  ChatOnTerminal next({"--load", file});
  ASSERT_TRUE(next->wait_for("3 messages loaded"));
  ASSERT_TRUE(next->wait_for_prompt());
  EXPECT_TRUE(next.say("/system", "the system message: Answer briefly."));
  EXPECT_TRUE(next.say("/load /no/such/file", "lagoon: "));
  const auto broken = next.home.write("broken.json", "<html>");
  EXPECT_TRUE(next.say("/load " + broken.string(), "broken.json"));
  EXPECT_TRUE(next.say("/stats", "memory"));
}

TEST(TerminalCommands, SlashesCanBeginAMessage) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say("//etc is what?", "\x1b[0m"));
  ASSERT_TRUE(chat.say(" /usr is what?", "\x1b[0m"));
  const auto file = chat.home.path() / "talk.json";
  ASSERT_TRUE(chat.say("/save " + file.string(), "4 messages saved"));
  const Json saved = parse_json(file_text(file), "talk.json");
  EXPECT_EQ(saved.at(0).at("content"), "/etc is what?");
  EXPECT_EQ(saved.at(2).at("content"), "/usr is what?");
}

TEST(TerminalCommands, ANearlyFullContextIsSaidBeforeItIsFull) {
  ChatOnTerminal chat({"--context", "160"});
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say("What is 17 * 24?", "the context is nearly full: "));  // another turn such as this one would not fit
  ASSERT_TRUE(chat.say(question, answer));
  EXPECT_THAT(chat->output(), HasSubstr("--context 320"));
  ASSERT_TRUE(chat.say("Tell me a story about a fox and a hen and a dog and a cat and a cow and a pig and a horse.", "160"));
  EXPECT_TRUE(chat.say("/clear", "a new conversation begins"));
  EXPECT_TRUE(chat.say(question, answer));

  auto flags = endless();
  flags.insert(flags.end(), {"--context", "160"});
  ChatOnTerminal full(flags);
  ASSERT_TRUE(full->wait_for_prompt());
  EXPECT_TRUE(full.say("hi", "the context of 160 tokens is full"));
  EXPECT_TRUE(full.say("hi", "the context holds 160"));
  ASSERT_TRUE(full.say("/save ~/full.json", "2 messages saved"));
  ASSERT_TRUE(full.say("/clear", "a new conversation begins"));
  EXPECT_TRUE(full.say("/load ~/full.json", "another message does not fit; /edit changes the last one"));
  EXPECT_TRUE(full.say("/stats", " of 160 tokens"));
}

TEST(TerminalCommands, WhatAModelSaysIsShownNotObeyed) {
  // Token 220-odd bytes stand alone in the vocabulary: a bias makes the model say Escape.
  const ProgramRun ids = run_lagoon({"tokenize", "nano", "\x1b"});
  const std::string escape = ids.output.substr(0, ids.output.find_first_of(" \n"));
  const std::vector<std::string> flags = {"--logit-bias", escape + "=1000", "--max-tokens", "3", "--thinking", "off"};
  ChatOnTerminal chat(flags);
  ASSERT_TRUE(chat->wait_for_prompt());
  EXPECT_TRUE(chat.say("hi", "\\x1b\\x1b\\x1b"));
  std::vector<std::string> command = {"generate", "nano", "hi"};
  command.insert(command.end(), flags.begin(), flags.end());
  std::vector<std::string> words = {LAGOON_PROGRAM};
  words.insert(words.end(), command.begin(), command.end());
  testing_support::Terminal terminal(words);
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_THAT(terminal.output(), HasSubstr("\\x1b\\x1b\\x1b"));
  EXPECT_EQ(run_lagoon(command).output, "\x1b\x1b\x1b\n");  // where no terminal is, bytes are bytes
}

TEST(TerminalCommands, WithoutATerminalEachLineIsAMessage) {
  const TemporaryFolder home;
  const ProgramRun run = run_lagoon(
      {"chat", "nano"}, {.input = std::string(question) + "\n/stats\nWhat is \\\n3 + 4?", .environment = {"XDG_STATE_HOME=" + home.path().string()}});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_THAT(run.output, StartsWith(std::string(answer) + "\ncontext "));
  EXPECT_THAT(run.output, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run.output, Not(HasSubstr("> ")));
  EXPECT_FALSE(std::filesystem::exists(home.path() / "lagoon"));
  EXPECT_EQ(run_lagoon({"chat", "nano"}, {.input = "caf\xe9\n/quit\nhi\n"}).output, "");
}

TEST(TerminalCommands, AnswersGoToAFileWhileSomebodyTypes) {
  const TemporaryFolder folder;
  const auto file = folder.write("answers", "");
  const int output = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  ChatOnTerminal chat({}, {.output = output});
  close(output);
  ASSERT_TRUE(chat->wait_for_output("> "));
  chat->mark();
  chat->type(std::string(question) + "\n");
  ASSERT_TRUE(chat->wait_for_output("\n> "));
  EXPECT_EQ(file_text(file), std::string(answer) + "\n");
  chat->mark();
  chat->type("not this\x03");  // the line is dropped
  ASSERT_TRUE(chat->wait_for_output("\n> "));
  chat->type("\x04");
  EXPECT_EQ(chat->exit_code(), 0);
  EXPECT_TRUE(chat->is_restored());
}

TEST(TerminalCommands, AnswersAreThoseOfGenerateOnTheSameMessages) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "talk.json";
  const std::string input = "What is 17 * 24?\nIs that even?\nWhat is the capital of France?\n/save " + file.string() + "\n";
  const ProgramRun run = run_lagoon({"chat", "nano"}, {.input = input});
  Json messages = parse_json(file_text(file), "talk.json");
  ASSERT_EQ(messages.size(), 6u);
  while (!messages.empty()) {
    const Json said = messages.back();
    messages.erase(messages.end() - 1);
    const auto before = folder.write("before.json", messages.dump());
    const Json fresh = parse_json(run_lagoon({"generate", "nano", "--json", "--messages", before.string()}).output, "output");
    EXPECT_EQ(fresh.at("text"), said.at("content"));
    EXPECT_EQ(fresh.at("reasoning"), said.value("reasoning_content", ""));
    messages.erase(messages.end() - 1);
  }
}

}  // namespace
}  // namespace lagoon
