// The parts of the line editor that need no terminal: characters, rows, keys, history.
#include "base/error.h"
#include "commands/edit_buffer.h"
#include "commands/edit_view.h"
#include "commands/key_reader.h"
#include "commands/line_history.h"
#include "commands/terminal_text.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <future>

namespace lagoon {
namespace {

using testing::ElementsAre;
using testing_support::file_text;
using testing_support::TemporaryFolder;

constexpr const char* wide = "\xe4\xb8\xad";
constexpr const char* accent = "e\xcc\x81";

TEST(TerminalText, ControlCharactersBecomeVisible) {
  EXPECT_EQ(visible("a\x1b[2Jb\r\n\tc\x7f"), "a\\x1b[2Jb\\x0d\n\tc\\x7f");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31m"),
            "\\x9b31m");  // C1: a sequence introducer in one character
  EXPECT_EQ(visible("\xff"), "\\xff");
  EXPECT_EQ(visible(std::string("\xc3\xa9") + wide), std::string("\xc3\xa9") + wide);
  EXPECT_EQ(visible_line("a\nb\tc"), "a\\nb\\tc");
}

TEST(TerminalText, CharactersAndTheirColumns) {
  EXPECT_THAT(characters_of(std::string("a") + accent + wide), ElementsAre("a", accent, wide));
  EXPECT_THAT(characters_of("a\r\n\xff"), ElementsAre("a", "\r", "\n", "\xff"));
  EXPECT_EQ(columns_of(accent), 1);
  EXPECT_EQ(columns_of(wide), 2);
  EXPECT_EQ(columns_of("\xf0\x9f\x98\x80"), 2);
}

TEST(EditBuffer, AMarkJoinsTheCharacterBeforeIt) {
  EditBuffer buffer;
  buffer.insert("e");
  buffer.insert("\xcc\x81");
  EXPECT_EQ(buffer.cells().size(), 1u);
  EXPECT_TRUE(buffer.erase_before());
  EXPECT_TRUE(buffer.empty());
}

TEST(EditBuffer, ALongPasteIsOneCellWithItsText) {
  EditBuffer buffer;
  buffer.insert("a");
  buffer.paste("1\n2\n3\n4\n5\n6\n");
  buffer.insert("b");
  ASSERT_EQ(buffer.cells().size(), 3u);
  EXPECT_EQ(buffer.cells()[1].label, "[pasted 6 lines]");
  EXPECT_EQ(buffer.text(), "a1\n2\n3\n4\n5\n6\nb");
  EXPECT_EQ(paste_label(std::string(3000, 'x')), "[pasted 3,000 characters]");
}

TEST(EditBuffer, LinesAreMovedThroughAndCut) {
  EditBuffer buffer;
  buffer.insert("first\nsecond one\nx");
  EXPECT_TRUE(buffer.up());
  EXPECT_EQ(buffer.cursor(), 7u);
  buffer.kill_to_line_end();
  EXPECT_EQ(buffer.text(), "first\ns\nx");
  buffer.yank();
  EXPECT_EQ(buffer.text(), "first\nsecond one\nx");
  buffer.kill_word_before();
  EXPECT_EQ(buffer.text(), "first\nsecond \nx");
  EXPECT_TRUE(buffer.up());
  EXPECT_FALSE(buffer.up());
}

TEST(EditBuffer, CutsInARowComeBackTogether) {
  const auto key = [](EditBuffer& buffer, auto action) {
    buffer.next_key();
    (buffer.*action)();
  };
  EditBuffer buffer;
  buffer.insert("one two three four");
  key(buffer, &EditBuffer::kill_word_before);
  key(buffer, &EditBuffer::kill_word_before);
  key(buffer, &EditBuffer::yank);
  EXPECT_EQ(buffer.text(), "one two three four");
  key(buffer, &EditBuffer::word_left);
  key(buffer, &EditBuffer::word_left);
  key(buffer, &EditBuffer::kill_word_after);
  key(buffer, &EditBuffer::kill_to_line_end);
  key(buffer, &EditBuffer::kill_word_before);
  EXPECT_EQ(buffer.text(), "one ");
  key(buffer, &EditBuffer::line_begin);
  key(buffer, &EditBuffer::yank);
  EXPECT_EQ(buffer.text(), "two three fourone ");
  key(buffer, &EditBuffer::kill_word_before);
  key(buffer, &EditBuffer::line_begin);
  key(buffer, &EditBuffer::kill_word_after);  // not in a row: alone
  key(buffer, &EditBuffer::yank);
  key(buffer, &EditBuffer::yank);
  EXPECT_EQ(buffer.text(), "twotwo three one ");
}

TEST(EditBuffer, ChangesAreTakenBackOneByOne) {
  EditBuffer buffer;
  const auto type = [&](const std::string& text) {
    for (const char letter : text) {
      buffer.next_key();
      buffer.insert(std::string(1, letter));
    }
    buffer.next_key();
  };
  EXPECT_FALSE(buffer.undo());
  type("hello");
  buffer.paste(" big");
  type(" world");
  buffer.kill_word_before();
  buffer.next_key();
  buffer.line_begin();
  type("x");
  buffer.erase_at();
  buffer.transpose();
  EXPECT_EQ(buffer.text(), "exllo big ");
  for (const char* before : {"xello big ", "xhello big ", "hello big ", "hello big world", "hello big", "hello", ""}) {
    EXPECT_TRUE(buffer.undo());
    EXPECT_EQ(buffer.text(), before);
  }
  EXPECT_FALSE(buffer.changed());
  type(std::string(30, 'y'));
  EXPECT_TRUE(buffer.undo());
  EXPECT_EQ(buffer.text(), std::string(20, 'y'));
  for (int change = 0; change < 2000; ++change) {
    buffer.next_key();
    buffer.paste("z");
  }
  while (buffer.undo()) continue;
  EXPECT_EQ(buffer.cells().size(), 20u + 1500u);
}

TEST(EditBuffer, LongTextThatIsBroughtBackIsFoldedInPieces) {
  std::string lines;
  for (int line = 1; line <= 402; ++line) lines += "line " + std::to_string(line) + "\n";
  EditBuffer buffer;
  buffer.assign(lines);
  ASSERT_EQ(buffer.cells().size(), 2u + 18u);
  EXPECT_EQ(buffer.cells()[0].label, "[lines 1-200]");
  EXPECT_EQ(buffer.cells()[1].label, "[lines 201-400]");
  EXPECT_EQ(buffer.text(), lines);
  std::string wide_text;
  for (int character = 0; character < 8000; ++character) wide_text += wide;
  buffer.assign(wide_text);
  ASSERT_EQ(buffer.cells().size(), 2u);
  EXPECT_EQ(buffer.cells()[0].label, "[part of line 1]");
  EXPECT_EQ(buffer.cells()[0].text.size(), 19998u);
  EXPECT_EQ(buffer.cells()[1].label, "[line 1]");
  EXPECT_EQ(buffer.text(), wide_text);
}

TEST(EditView, NoRowIsAsWideAsTheTerminal) {
  EditBuffer buffer;
  buffer.insert(std::string("1234567") + wide + "\nab");
  const EditLayout layout = lay_out("> ", buffer, 11);
  ASSERT_EQ(layout.rows.size(), 3u);
  EXPECT_EQ(layout.rows[0].text, "> 1234567");
  EXPECT_EQ(layout.rows[1].text, wide);
  EXPECT_EQ(layout.rows[2].text, "  ab");
  EXPECT_EQ(layout.cursor_row, 2);
  EXPECT_EQ(layout.cursor_column, 4);
  for (int columns = 1; columns < 12; ++columns) EXPECT_FALSE(lay_out("> ", buffer, columns).rows.empty());
}

TEST(EditView, AWindowHoldsTheCursor) {
  EditBuffer buffer;
  buffer.insert("1\n2\n3\n4\n5");
  const EditLayout window = window_of(lay_out("> ", buffer, 20), 2);
  ASSERT_EQ(window.rows.size(), 2u);
  EXPECT_EQ(window.rows[1].text, "  5");
  EXPECT_EQ(window.cursor_row, 1);
}

/// Of bytes that come in pieces, each by one read.
std::vector<Key> keys_of_pieces(const std::vector<std::string>& pieces, KeyPatience patience = {}) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return {};
  for (const std::string& piece : pieces) EXPECT_EQ(write(ends[1], piece.data(), piece.size()), static_cast<ssize_t>(piece.size()));
  close(ends[1]);
  KeyReader reader(ends[0], -1, patience);
  std::vector<Key> keys;
  do {
    keys.push_back(reader.next());
  } while (keys.back().kind != KeyKind::closed && keys.back().kind != KeyKind::hang_up);
  close(ends[0]);
  keys.pop_back();
  return keys;
}

std::vector<Key> keys_of(const std::string& bytes) { return keys_of_pieces({bytes}); }

std::vector<KeyKind> kinds_of(const std::vector<Key>& keys) {
  std::vector<KeyKind> kinds;
  for (const Key& key : keys) kinds.push_back(key.kind);
  return kinds;
}

TEST(KeyReader, SequencesAreOneKeyAndTextIsWholeCharacters) {
  const std::vector<Key> keys = keys_of(
      "a\xc3\xa9\x1b[A\x1b[1;5D\x1bOH\x1b\r\r\x01\x1b"
      "b\x1b[999x\xffz");
  EXPECT_THAT(kinds_of(keys), ElementsAre(KeyKind::text, KeyKind::up, KeyKind::word_left, KeyKind::home, KeyKind::new_line, KeyKind::enter,
                                          KeyKind::control, KeyKind::alt, KeyKind::unknown, KeyKind::text, KeyKind::text));
  EXPECT_EQ(keys[0].text, "a\xc3\xa9");
  EXPECT_EQ(keys[9].text, "\xff");
}

TEST(KeyReader, APasteIsOneKeyHoweverItsLinesEnd) {
  const std::vector<Key> keys = keys_of("\x1b[200~one\rtwo\r\nthree\x1b[201~\r");
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].kind, KeyKind::paste);
  EXPECT_EQ(keys[0].text, "one\ntwo\nthree");
  EXPECT_EQ(keys_of("\x1b[200~cut off").front().text, "cut off");
}

TEST(KeyReader, PiecesAreOneKey) {
  const std::vector<Key> keys = keys_of_pieces({"\x1b", "[20", "0~one\ntwo", "\n\x1b[2", "01~", "\x1b", "O", "H\x1b[1;", "5Dx\xc3", "\xa9"});
  EXPECT_THAT(kinds_of(keys), ElementsAre(KeyKind::paste, KeyKind::home, KeyKind::word_left, KeyKind::text, KeyKind::text));
  EXPECT_EQ(keys[0].text, "one\ntwo\n");
  EXPECT_EQ(keys[4].text, "\xc3\xa9");
  // The end of a paste nearer to the front than its beginning was.
  const std::vector<Key> split = keys_of_pieces({"text\x1b[200~", "hi\x1b[201~\r"});
  EXPECT_THAT(kinds_of(split), ElementsAre(KeyKind::text, KeyKind::paste, KeyKind::enter));
}

TEST(KeyReader, OnlyEscapeAloneIsNotWaitedForLong) {
  const KeyPatience patience = {.escape_ms = 0};
  const std::vector<Key> keys = keys_of_pieces({"\x1b[20", "0~one", "\x1b[201~\x1b", "O"}, patience);
  EXPECT_THAT(kinds_of(keys), ElementsAre(KeyKind::paste, KeyKind::escape, KeyKind::text));
}

TEST(KeyReader, AltWithALetterBeyondAsciiIsThatLetter) {
  for (const std::vector<std::string>& pieces : {std::vector<std::string>{"\x1b\xc3\xa9"}, {"\x1b", "\xc3", "\xa9"}}) {
    const std::vector<Key> keys = keys_of_pieces(pieces);
    ASSERT_EQ(keys.size(), 1u);
    EXPECT_EQ(keys[0].kind, KeyKind::text);
    EXPECT_EQ(keys[0].text, "\xc3\xa9");
  }
}

TEST(KeyReader, WhatTerminalsSayOfThemselvesIsSwallowedWhole) {
  for (const char* said : {"\x1b[[A", "\x1b[[E", "\x1b]11;rgb:ffff/ffff/ffff\x07", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "\x1bP1+r544e=1\x1b\\",
                           "\x1b_Gi=31;OK\x1b\\", "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28;29;42;314c"}) {
    EXPECT_THAT(kinds_of(keys_of(std::string(said) + "\r")), ElementsAre(KeyKind::unknown, KeyKind::enter)) << said;
  }
  EXPECT_THAT(kinds_of(keys_of_pieces({"\x1b]", std::string(1 << 16, 'x')})), ElementsAre(KeyKind::unknown));
  // Without an end, it was Alt with a letter.
  for (const char* end : {"\r", "\x03", "\x1b[A", ""}) {
    const std::vector<Key> keys = keys_of(std::string("\x1bPhello") + end);
    ASSERT_GE(keys.size(), 2u);
    EXPECT_EQ(keys[0].kind, KeyKind::alt);
    EXPECT_EQ(keys[1].text, "hello");
  }
  // What is no part of a sequence is a key.
  EXPECT_THAT(kinds_of(keys_of("\x1b[\r")), ElementsAre(KeyKind::unknown, KeyKind::enter));
}

TEST(LineHistory, WaitsForAnotherSessionThatWrites) {
  const TemporaryFolder folder;
  const auto file = folder.write("history", "before\n");
  LineHistory history(file);
  history.load();
  history.add("mine");
  const int lock = open(folder.path().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  std::future<void> saved = std::async(std::launch::async, [&] { history.save(); });
  EXPECT_EQ(saved.wait_for(std::chrono::milliseconds(60)), std::future_status::timeout);
  folder.write("history", "before\nother\n");
  close(lock);
  saved.get();
  EXPECT_EQ(file_text(file), "before\nother\nmine\n");
}

TEST(LineHistory, KeepsEntriesOfSeveralLinesPrivateAndBounded) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "state/lagoon/history";
  LineHistory history(file);
  history.load();
  history.add("one\ntwo \\n");
  history.add("  ");
  history.add("x");
  history.add("x");
  history.add(std::string(LineHistory::most_entry_bytes + 1, 'y'));
  history.save();
  EXPECT_EQ(file_text(file), "one\\ntwo \\\\n\nx\n");
  struct stat status = {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(history.entries().size(), 3u);

  LineHistory other(file);
  other.load();
  EXPECT_THAT(other.entries(), ElementsAre("one\ntwo \\n", "x"));
  for (size_t entry = 0; entry < LineHistory::most_entries; ++entry) other.add("entry " + std::to_string(entry));
  history.add("from the first session");
  history.save();
  other.save();
  LineHistory all(file);
  all.load();
  EXPECT_EQ(all.entries().size(), LineHistory::most_entries);
  EXPECT_EQ(all.entries().back(), "entry 999");
}

TEST(LineHistory, IsSearchedBothWays) {
  LineHistory history({});
  for (const char* entry : {"apple", "banana", "apple pie"}) history.add(entry);
  EXPECT_EQ(history.find_before(3, "apple"), 2u);
  EXPECT_EQ(history.find_before(2, "apple"), 0u);
  EXPECT_EQ(history.find_from(1, "apple"), 2u);
  EXPECT_EQ(history.find_before(3, "cherry"), std::nullopt);
}

}  // namespace
}  // namespace lagoon
