// Keys, history, pastes and characters of every width, on a real pseudo-terminal.
#include "terminal/chat_on_terminal.h"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace lagoon {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::ChatOnTerminal;
using testing_support::file_text;
using testing_support::TerminalSetup;

constexpr const char* left = "\x1b[D";
constexpr const char* up = "\x1b[A";
constexpr const char* down = "\x1b[B";
constexpr const char* wide = "\xe4\xb8\xad";       // two columns
constexpr const char* accent = "e\xcc\x81";        // two code points, one column
constexpr const char* emoji = "\xf0\x9f\x98\x80";  // two columns

TEST(TerminalEditing, KeysDoWhatTheyDoInAShell) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("world\x01hello \x05!");
  EXPECT_TRUE(chat->wait_for("> hello world!\n"));
  chat->type("\x7f\x17there");  // Backspace, Ctrl-W
  EXPECT_TRUE(chat->wait_for("> hello there\n"));
  chat->type(std::string(left) + left + "\x0b");  // Ctrl-K
  EXPECT_TRUE(chat->wait_for("> hello the\n"));
  chat->type("\x15");  // Ctrl-U
  EXPECT_TRUE(chat->wait_for_prompt());
  chat->type("\x19");  // Ctrl-Y: both cuts
  EXPECT_TRUE(chat->wait_for("> hello there\n"));
  chat->type(
      "\x1b"
      "b\x1b[3~");  // a word left, Delete
  EXPECT_TRUE(chat->wait_for("> hello here\n"));
}

TEST(TerminalEditing, WideAndCombiningCharactersAreMovedOverAndDeletedAsOne) {
  for (const int columns : {80, 20}) {
    for (const char* locale : {"LC_ALL=C.UTF-8", "LC_ALL=C", "LC_ALL=POSIX"}) {
      ChatOnTerminal chat({}, {.columns = columns, .environment = {locale}});
      ASSERT_TRUE(chat->wait_for_prompt());
      chat->type(std::string("a") + wide + accent + emoji + "z");
      ASSERT_TRUE(chat->wait_for(std::string("> a") + wide + accent + emoji + "z\n")) << locale;
      EXPECT_EQ(chat->cursor_column(), 2 + 1 + 2 + 1 + 2 + 1);
      chat->type(std::string(left) + left);
      EXPECT_TRUE(chat->wait_until([&] { return chat->cursor_column() == 2 + 1 + 2 + 1; })) << locale;
      chat->type(left);
      EXPECT_TRUE(chat->wait_until([&] { return chat->cursor_column() == 2 + 1 + 2; })) << locale;
      chat->type("\x7f");
      EXPECT_TRUE(chat->wait_for(std::string("> a") + accent + emoji + "z\n")) << locale;
      chat->type("\x1b[3~");
      EXPECT_TRUE(chat->wait_for(std::string("> a") + emoji + "z\n")) << locale;
    }
  }
}

TEST(TerminalEditing, WideCharactersDoNotStraddleTheEdgeOfANarrowTerminal) {
  ChatOnTerminal chat({}, {.rows = 12, .columns = 20});
  ASSERT_TRUE(chat->wait_for_prompt());
  std::string text = "1234567890123456";  // with the prompt, 18 of 19 columns
  chat->type(text + wide + wide + "z");
  EXPECT_TRUE(chat->wait_for("> 1234567890123456\n" + std::string(wide) + wide + "z\n"));
  EXPECT_EQ(chat->cursor_column(), 5);
  chat->type("\x01");
  EXPECT_TRUE(chat->wait_until([&] { return chat->cursor_column() == 2; }));
  chat->type("\x1b[3~");
  EXPECT_TRUE(chat->wait_for("> 234567890123456" + std::string(wide) + "\n" + wide + "z\n"));
}

TEST(TerminalEditing, HistoryComesBackInThisSessionAndTheNext) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say("hi", "Hello"));
  ASSERT_TRUE(chat.say("Which month comes after May?", "June comes after May."));
  chat->type(std::string("draft") + up + up);
  EXPECT_TRUE(chat->wait_until([&] { return chat->row(chat->cursor_row()) == "> hi"; }));
  chat->type(std::string(down) + down);
  EXPECT_TRUE(chat->wait_until([&] { return chat->row(chat->cursor_row()) == "> draft"; }));
  chat->type("\x03\x04");
  EXPECT_EQ(chat->exit_code(), 0);
  const std::filesystem::path file = chat.home.path() / ".local/state/lagoon/history";
  EXPECT_EQ(file_text(file), "hi\nWhich month comes after May?\n");
  struct stat status = {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);

  ChatOnTerminal next({}, {.environment = {"XDG_STATE_HOME=" + (chat.home.path() / ".local/state").string()}});
  ASSERT_TRUE(next->wait_for_prompt());
  next->type(up);
  EXPECT_TRUE(next->wait_for("> Which month comes after May?\n"));
}

TEST(TerminalEditing, WhatWasCutOrChangedComesBack) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("one two caf\x1b\xc3\xa9");  // Alt with a letter beyond ASCII
  EXPECT_TRUE(chat->wait_for("> one two caf\xc3\xa9\n"));
  chat->type("\x17\x17");  // Ctrl-W twice
  EXPECT_TRUE(chat->wait_for("> one\n"));
  chat->type("\x19");  // Ctrl-Y
  EXPECT_TRUE(chat->wait_for("> one two caf\xc3\xa9\n"));
  chat->type("\x1f");  // Ctrl-_
  EXPECT_TRUE(chat->wait_for("> one\n"));
  chat->type("2\x03");
  EXPECT_TRUE(chat->wait_for_prompt());
  chat->type("\x19");
  EXPECT_TRUE(chat->wait_for("> one 2\n"));
}

TEST(TerminalEditing, AChangedEntryStaysChangedUntilALineIsSent) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say("hi", "Hello"));
  const auto shows = [&](const std::string& line) { return chat->wait_until([&] { return chat->row(chat->cursor_row()) == line; }); };
  chat->type(std::string("draft") + up + "!");
  EXPECT_TRUE(shows("> hi!"));
  chat->type(down);
  EXPECT_TRUE(shows("> draft"));
  chat->type(up);
  EXPECT_TRUE(shows("> hi!"));
  chat->type("\x03");
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type(up);
  EXPECT_TRUE(shows("> hi"));
}

TEST(TerminalEditing, ATallMessageIsWrittenWholeWhenItIsSent) {
  ChatOnTerminal chat({"--thinking", "off"}, {.rows = 8});
  ASSERT_TRUE(chat->wait_for_prompt());
  std::string keys;
  std::string shown;
  for (int row = 1; row <= 14; ++row) {
    keys += (row == 1 ? "row " : "\x1b\rrow ") + std::to_string(row);
    shown += (row == 1 ? "> row " : "\r\r\n  row ") + std::to_string(row);
  }
  chat->type(keys);
  ASSERT_TRUE(chat->wait_for("  row 14\n"));
  chat->mark();
  chat->type("\r");
  EXPECT_TRUE(chat->wait_for_output(shown));
}

TEST(TerminalEditing, TheCursorIsPutWhereTheTerminalPutsWhatStandsBeforeIt) {
  const std::string family = "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9";  // two joined: two columns or four
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("one\x1b\ra" + family + "bc");
  ASSERT_TRUE(chat->wait_for("bc\n"));
  chat->mark();
  chat->type(left);
  EXPECT_TRUE(chat->wait_for_output("\r  a" + family + "b"));
  chat->mark();
  chat->type(up);
  EXPECT_TRUE(chat->wait_for_output("\r\x1b[5C"));  // of letters alone, the columns are known
}

TEST(TerminalEditing, CtrlRFindsWhatWasSent) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say("Which month comes after May?", "June comes after May."));
  ASSERT_TRUE(chat.say("hi", "Hello"));
  chat->type("\x12mon");
  EXPECT_TRUE(chat->wait_for("(search `mon') Which month comes after May?\n"));
  chat->type("x");
  EXPECT_TRUE(chat->wait_for("(not found `monx')"));
  chat->type("\x07");  // Ctrl-G
  EXPECT_TRUE(chat->wait_for_prompt());
  chat->type("\x12mo\x1b[200~nth\nnot this\x1b[201~");
  EXPECT_TRUE(chat->wait_for("(search `month') Which month comes after May?\n"));
  chat->type("\x07");
  EXPECT_TRUE(chat->wait_for_prompt());
  chat->mark();
  chat->type("\x12mon\r");
  EXPECT_TRUE(chat->wait_for_output("June comes after May."));
}

TEST(TerminalEditing, AHistoryThatCannotBeWrittenIsANote) {
  testing_support::TemporaryFolder folder;
  const auto file = folder.write("state", "a file where a folder should be");
  ChatOnTerminal chat({}, {.environment = {"XDG_STATE_HOME=" + file.string()}});
  ASSERT_TRUE(chat->wait_for_prompt());
  EXPECT_TRUE(chat.say("hi", "Hello"));
  EXPECT_THAT(chat->output(), HasSubstr("the history is not kept"));
  chat->type("\x04");
  EXPECT_EQ(chat->exit_code(), 0);
}

/// Enter sends what stands there, and the saved conversation then holds `part`.
void send_and_find_saved(ChatOnTerminal& chat, const char* part) {
  const auto file = chat.home.path() / "talk.json";
  chat->mark();
  chat->type("\r");
  ASSERT_TRUE(chat->wait_for_output("\x1b[0m"));
  ASSERT_TRUE(chat->wait_for_prompt());
  ASSERT_TRUE(chat.say("/save " + file.string(), "2 messages saved"));
  EXPECT_THAT(file_text(file), HasSubstr(part));
}

TEST(TerminalEditing, ABackslashAndAltEnterContinueAMessage) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("one\\\rtwo\x1b\rthree");
  EXPECT_TRUE(chat->wait_for("> one\n  two\n  three\n"));
  send_and_find_saved(chat, "one\\ntwo\\nthree");
}

TEST(TerminalEditing, APasteIsOneMessageThatEnterSends) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  EXPECT_TRUE(chat->marks_pastes());
  chat->type("\x1b[200~one line\x1b[201~");
  EXPECT_TRUE(chat->wait_for("> one line\n"));
  chat->type("\x15\x1b[200~hi\rWhich month comes after May?\x1b[201~");
  EXPECT_TRUE(chat->wait_for("> hi\n  Which month comes after May?\n"));
  EXPECT_THAT(chat->screen(), Not(HasSubstr("Hello")));
  send_and_find_saved(chat, "hi\\nWhich month comes after May?");
}

TEST(TerminalEditing, TenThousandPastedLinesAreFoldedAndSentWhole) {
  ChatOnTerminal chat({}, {.columns = 1200});
  ASSERT_TRUE(chat->wait_for_prompt());
  std::string lines;
  for (int line = 1; line <= 10000; ++line) lines += "line " + std::to_string(line) + (line < 10000 ? "\r" : "");
  chat->type("see \x1b[200~" + lines + "\x1b[201~ end");
  EXPECT_TRUE(chat->wait_for("> see [pasted 10,000 lines] end\n"));
  EXPECT_LT(chat->output().size(), 20000u);  // it is not drawn line by line
  chat->type("\r");
  // Nano's context is 4,096 tokens: the message is refused as a whole, with its size, and the chat goes on.
  EXPECT_TRUE(chat->wait_for_output("the context holds 4,096"));
  EXPECT_TRUE(chat->wait_for_prompt());
  chat->type("/edit\r");
  ASSERT_TRUE(chat->wait_for("[lines 9,601-9,800][lines 9,801-10,000]\n"));
  chat->type("\x7f");  // a piece of it
  EXPECT_TRUE(chat->wait_for("[lines 9,601-9,800]\n"));
  chat->type(std::string(48, '\x7f'));
  EXPECT_TRUE(chat->wait_for("> [lines 1-200]\n"));
  chat->type("\x7f");
  EXPECT_TRUE(chat->wait_for_prompt());
  EXPECT_TRUE(chat.say("hi", "Hello"));
}

TEST(TerminalEditing, LinesPastedWithoutMarksAreNotLost) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("hi\rWhich month comes after May?\r/quit\r");
  EXPECT_EQ(chat->exit_code(), 0);
  EXPECT_THAT(chat->output(), HasSubstr("Hello"));
  EXPECT_THAT(chat->output(), HasSubstr("June comes after May."));
}

TEST(TerminalEditing, BytesThatAreNoUtf8AreRefused) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  chat->type("caf\xe9 x\r");
  EXPECT_TRUE(chat->wait_for("not valid UTF-8"));
  EXPECT_TRUE(chat->wait_for_prompt());
  EXPECT_THAT(chat->screen(), HasSubstr("caf\\xe9 x"));
  EXPECT_TRUE(chat.say("hi", "Hello"));
}

TEST(TerminalEditing, AResizedWindowShowsTheWholeMessageAgain) {
  ChatOnTerminal chat;
  ASSERT_TRUE(chat->wait_for_prompt());
  const std::string text = "The quick brown fox jumps over the lazy dog";
  chat->type(text);
  ASSERT_TRUE(chat->wait_for("> " + text + "\n"));
  chat->resize(24, 20);
  EXPECT_TRUE(chat->wait_for("> The quick brown f\nox jumps over the l\nazy dog\n")) << chat->screen();
  chat->resize(24, 60);
  chat->type("!");
  EXPECT_TRUE(chat->wait_for("> " + text + "!\n")) << chat->screen();
}

}  // namespace
}  // namespace lagoon
