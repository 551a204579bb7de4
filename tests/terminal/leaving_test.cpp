// Every way out of a chat leaves the terminal as it was, and Ctrl-C stops an answer, not the chat.
#include "terminal/chat_on_terminal.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <tuple>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing_support::ChatOnTerminal;
using testing_support::endless;
using testing_support::slow;
using testing_support::TerminalSetup;

/// A message of so many words that reading it takes slow() seconds.
std::string long_message() {
  std::string text;
  for (int word = 0; word < 1500; ++word) text += "word ";
  return "\x1b[200~" + text + "\x1b[201~";
}

TEST(TerminalLeaving, CtrlDAndQuitAndCtrlCTwiceLeave) {
  for (const char* keys : {"\x04", "/quit\r", "\x03\x03"}) {
    ChatOnTerminal chat;
    ASSERT_TRUE(chat->wait_for_prompt());
    EXPECT_FALSE(chat->is_restored());
    chat->type(keys);
    EXPECT_EQ(chat->exit_code(), 0);
    EXPECT_TRUE(chat->is_restored());
  }
}

TEST(TerminalLeaving, CtrlCAtThePromptClearsTheLine) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("not this\x03");
  EXPECT_TRUE(chat->wait_for_prompt());
  EXPECT_TRUE(chat.say("hi", "Hello"));
}

TEST(TerminalLeaving, CtrlCStopsADecodeAndKeepsTheSession) {
  ChatOnTerminal chat(endless());
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("Tell me a story.\r");
  ASSERT_TRUE(chat->wait_for_output("\x1b[0m\r\n"));  // the thinking is over, the answer comes
  chat->type("\x03");
  EXPECT_TRUE(chat->wait_for("lagoon: stopped; what came stays"));
  EXPECT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say("/stats", "seed"));
  chat->type("\x04");
  EXPECT_EQ(chat->exit_code(), 0);
  EXPECT_TRUE(chat->is_restored());
}

TEST(TerminalLeaving, CtrlCRightBehindEnterStopsTheAnswer) {
  ChatOnTerminal chat(endless());
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("Tell me a story.\r\x03");
  EXPECT_TRUE(chat->wait_for_output("lagoon: stopped"));
  EXPECT_TRUE(chat->wait_for_prompt());
}

TEST(TerminalLeaving, CtrlCStopsAPrefillAndKeepsTheSession) {
  ChatOnTerminal chat(slow());
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type(long_message() + "\r");
  ASSERT_TRUE(chat->wait_until([&] { return chat->cursor_column() == 0; }));
  chat->type("\x03");
  EXPECT_TRUE(chat->wait_for_output("stopped before the answer began"));
  EXPECT_TRUE(chat->wait_for_prompt());
  EXPECT_TRUE(chat.say("hi", "Hello"));
  EXPECT_TRUE(chat.say("/stats", "tokens reused"));
}

TEST(TerminalLeaving, SignalsEndAChatAtAnyTime) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    ChatOnTerminal waiting;
    ASSERT_TRUE(waiting->wait_for_prompt());
    waiting->send_signal(signal);
    EXPECT_EQ(waiting->exit_code(), 128 + signal);
    EXPECT_TRUE(waiting->is_restored());
    const bool said = waiting->output().find("lagoon: stopped by SIGTERM\r\n") != std::string::npos;
    EXPECT_EQ(said, signal == SIGTERM) << "nobody sees what is said to a window that was closed";

    ChatOnTerminal answering(endless());
    ASSERT_TRUE(answering->wait_for_prompt());
    answering->type("Tell me a story.\r");
    ASSERT_TRUE(answering->wait_for_output("\x1b[0m\r\n"));
    answering->send_signal(signal);
    EXPECT_EQ(answering->exit_code(), 128 + signal);
    EXPECT_TRUE(answering->is_restored());

    ChatOnTerminal reading(slow());
    ASSERT_TRUE(reading->wait_for_prompt());
    reading->type(long_message() + "\r");
    ASSERT_TRUE(reading->wait_until([&] { return reading->cursor_column() == 0; }));
    reading->send_signal(signal);
    EXPECT_EQ(reading->exit_code(), 128 + signal);
    EXPECT_TRUE(reading->is_restored());
  }
}

TEST(TerminalLeaving, SignalsEndAChatWithoutATerminalAndAreSaid) {
  for (const auto& [signal, said, code] : {std::tuple{"INT", "Ctrl-C", 130}, {"TERM", "SIGTERM", 143}, {"HUP", "SIGHUP", 129}}) {
    const testing_support::TemporaryFolder folder;
    const std::string script = "cd '" + folder.path().string() +
                               "' && mkfifo in && { '" LAGOON_PROGRAM
                               "' chat nano --thinking off < in > out 2> err & } && "
                               "exec 3> in && echo hi >&3 && while ! grep -q Hello out; do sleep 0.05; done; kill -" +
                               signal + " $!; wait $!";
    const int status = std::system(script.c_str());
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), code);
    EXPECT_EQ(testing_support::file_text(folder.path() / "err"), std::string("lagoon: stopped by ") + said + "\n");
  }
}

TEST(TerminalLeaving, AClosedWindowEndsAChat) {
  ChatOnTerminal waiting;
  ASSERT_TRUE(waiting->wait_for_prompt());
  waiting->hang_up();
  EXPECT_EQ(waiting->exit_code(), 128 + SIGHUP);

  ChatOnTerminal answering(endless());
  ASSERT_TRUE(answering->wait_for_prompt());
  answering->type("Tell me a story.\r");
  ASSERT_TRUE(answering->wait_for_output("\x1b[0m\r\n"));
  answering->hang_up();
  EXPECT_EQ(answering->exit_code(), 128 + SIGHUP);
}

TEST(TerminalLeaving, AModelThatCannotBeLoadedLeavesTheTerminalAlone) {
  testing_support::Terminal terminal({LAGOON_PROGRAM, "chat", "no-such-model"});
  EXPECT_EQ(terminal.exit_code(), 2);
  EXPECT_TRUE(terminal.is_restored());
  ChatOnTerminal chat({"--load", "/no/such/file"});
  EXPECT_EQ(chat->exit_code(), 2);
  EXPECT_TRUE(chat->is_restored());
}

TEST(TerminalLeaving, AStoppedChatGivesTheTerminalBackAndGoesOn) {
  // A shell between them, since a process group that nobody looks after is not stopped.
  testing_support::TemporaryFolder home;
  testing_support::Terminal terminal({"/bin/sh", "-c", "set -m; " LAGOON_PROGRAM " chat nano; stty -a | grep -o '.icanon'; fg; exit"},
                                     {.environment = {"HOME=" + home.path().string(), "XDG_STATE_HOME"}});
  ASSERT_TRUE(terminal.wait_for_prompt());
  terminal.type("half \x1a");
  ASSERT_TRUE(terminal.wait_for_output(" icanon"));
  ASSERT_TRUE(terminal.wait_until([&] { return terminal.row(terminal.cursor_row()) == "> half"; })) << terminal.screen();
  EXPECT_TRUE(terminal.marks_pastes());
  terminal.type("\x15hi\r");
  EXPECT_TRUE(terminal.wait_for_output("Hello"));
  ASSERT_TRUE(terminal.wait_for_prompt());
  terminal.type("\x04");
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.is_restored());
}

TEST(TerminalLeaving, AChatThatReadInTheBackgroundDrawsItsPromptInTheForeground) {
  testing_support::TemporaryFolder home;
  const std::string script = "set -m; " LAGOON_PROGRAM
                             " chat nano; bg; jobs -p > $HOME/id; read id < $HOME/id; "
                             "until grep -q 'State:.T' /proc/$id/status; do sleep 0.05; done; read line; echo read-$line; fg; exit";
  testing_support::Terminal terminal({"/bin/sh", "-c", script}, {.environment = {"HOME=" + home.path().string(), "XDG_STATE_HOME"}});
  ASSERT_TRUE(terminal.wait_for_prompt());
  terminal.type("half\x1a");
  ASSERT_TRUE(terminal.wait_until([&] { return std::filesystem::exists(home.path() / "id"); }));
  terminal.type("word\n");  // the chat, in the background, would read it too: it is stopped
  ASSERT_TRUE(terminal.wait_for_output("read-word"));
  EXPECT_TRUE(terminal.wait_until([&] { return terminal.output().find("> half", terminal.output().find("read-word")) != std::string::npos; }));
  terminal.type("\x15\x04");
  EXPECT_EQ(terminal.exit_code(), 0);
  EXPECT_TRUE(terminal.is_restored());
}

TEST(TerminalLeaving, AResizeDoesNotDisturbAnAnswer) {
  auto flags = endless();
  flags.insert(flags.end(), {"--max-tokens", "200"});
  ChatOnTerminal chat(flags);
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("Tell me a story.\r");
  ASSERT_TRUE(chat->wait_for_output("\x1b[0m\r\n"));
  chat->resize(10, 20);
  chat->resize(30, 100);
  EXPECT_TRUE(chat->wait_for_output("cut at --max-tokens 200"));
  EXPECT_TRUE(chat->wait_for_prompt());
  EXPECT_TRUE(chat.say("/stats", "200 tokens"));
}

TEST(TerminalLeaving, OutputThatCtrlSHoldsUpKeepsNobody) {
  ChatOnTerminal chat(endless());
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("Tell me a story.\r");
  ASSERT_TRUE(chat->wait_for_output("\x1b[0m\r\n"));
  chat->type("\x13");
  chat->send_signal(SIGTERM);
  EXPECT_EQ(chat->exit_code(), 128 + SIGTERM);
  EXPECT_TRUE(chat->is_restored());
}

TEST(TerminalLeaving, CtrlBackslashEndsAnAnswerWithTheTerminalRestored) {
  ChatOnTerminal chat(endless());
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("Tell me a story.\r");
  ASSERT_TRUE(chat->wait_for_output("\x1b[0m\r\n"));
  chat->type("\x1c");
  EXPECT_EQ(chat->exit_code(), 128 + SIGQUIT);
  EXPECT_TRUE(chat->is_restored());
}

TEST(TerminalLeaving, AClosedPipeBehindStandardOutputEndsItAsOtherFilters) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  ChatOnTerminal chat({}, {.output = ends[1]});
  close(ends[1]);
  chat->type("hi\r");
  EXPECT_EQ(chat->exit_code(), 128 + SIGPIPE);
  EXPECT_TRUE(chat->is_restored());
}

}  // namespace
}  // namespace lagoon
