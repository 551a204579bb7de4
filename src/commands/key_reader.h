// key_reader.h: bytes of a terminal become keys. A paste between its marks is one key, however long it is.
#pragma once

#include <cstddef>
#include <string>

namespace lagoon {

enum class KeyKind {
  text,      // `text`: one or more whole characters, or one byte that is no UTF-8
  control,   // `letter`: 'A' is Ctrl-A, '_' is Ctrl-_
  alt,       // `letter`, of ASCII, came behind Escape
  enter,     // carriage return or line feed
  new_line,  // Alt-Enter, Shift-Enter where the terminal tells them apart
  tab,
  backspace,
  alt_backspace,
  remove,  // Delete
  left,
  right,
  up,
  down,
  word_left,
  word_right,
  home,
  end,
  escape,   // alone
  paste,    // `text`: lines end in \n
  unknown,  // a sequence that means nothing here
  news,     // a signal came: take_news()
  closed,   // the end of the input
  hang_up,  // the terminal is gone
};

struct Key {
  KeyKind kind = KeyKind::unknown;
  std::string text;
  char letter = 0;
};

/// How long the rest of a key is waited for where it has not come; 0: not at all.
struct KeyPatience {
  int escape_ms = 300;    // behind Escape alone, which is a key too: what belongs to it comes within this time, a person's next key does not
  int sequence_ms = 500;  // behind what is no key yet: a slow line may bring it in pieces
};

class KeyReader {
 public:
  /// @param input  a descriptor to read from. @param wake  one that is readable when a signal came; -1: none
  KeyReader(int input, int wake, KeyPatience patience = {}) : input_(input), wake_(wake), patience_(patience) {}

  /// Waits for the next key.
  Key next();

  /// Whether a key may be had without waiting.
  bool has_more();

  /// Whether Ctrl-C was typed ahead, while it was a key still; it is taken, with all that came before it.
  bool take_ctrl_c();

  /// Forgets what was typed ahead.
  void discard();

 private:
  enum class Wait { data, timeout, news, closed, hang_up };

  Wait fill(int timeout_ms, bool hears_news);
  bool more_within(int timeout_ms);
  Key escape_key();
  Key sequence_key();
  Key string_key(char letter);
  Key text_key();
  Key paste_key();

  int input_;
  int wake_;
  KeyPatience patience_;
  std::string bytes_;  // read, not yet keys
  size_t at_ = 0;
};

}  // namespace lagoon
