// line_editor.h: a message is typed, with the keys that people know from their shell. What the screen shows is drawn anew after each key from
// edit_view.h's rows, none of which wraps by itself, so that wide and combining characters stand where the cursor believes them.
#pragma once

#include "commands/edit_view.h"
#include "commands/key_reader.h"
#include "commands/line_history.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lagoon {

enum class LineEnd {
  line,       // Enter
  leave,      // Ctrl-D on an empty line, Ctrl-C twice on one, or the end of the input
  interrupt,  // SIGINT where nobody types
  signal,     // SIGTERM or SIGHUP
  hang_up,    // the terminal is gone
};

struct EditedLine {
  LineEnd end = LineEnd::line;
  std::string text;
  bool cleared = false;  // what stood there at the beginning was given up with Ctrl-C
  bool pasted = false;   // its beginning was pasted
};

/// What Tab may put where a line's last word begins.
struct TabCompletion {
  size_t begin = 0;
  std::vector<std::string> words;
};

/// @param line  up to the cursor
using TabCompleter = std::function<TabCompletion(const std::string& line)>;

class LineEditor {
 public:
  LineEditor(KeyReader& keys, LineHistory& history, bool colour, TabCompleter completer)
      : keys_(keys), history_(history), colour_(colour), completer_(std::move(completer)) {}

  /// Reads one message. Nothing is added to the history. @param text  stands there already. @throws Error(io) where the terminal cannot be written
  EditedLine read(const std::string& text = {});

 private:
  enum class Outcome { going_on, sent, left, signalled, gone };

  struct Search {
    std::string part;
    size_t at = 0;  // the entry that is shown, or where the search began
    bool found = true;
    EditBuffer before;
  };

  Outcome handle(const Key& key);
  Outcome handle_control(char letter);
  void handle_alt(char letter);
  bool move(KeyKind kind);
  Outcome handle_news();
  std::optional<Outcome> handle_search(const Key& key);
  Outcome enter();
  Outcome clear_or_leave();
  void complete();
  void older();
  void newer();
  void leave_entry(const EditBuffer& left);
  void show_entry(size_t at);
  void begin_search();
  void search_on(bool backwards);
  void add_to_search(const std::string& text);

  std::string prompt() const;
  /// @param whole  also what is above the window
  void draw(bool whole = false);
  void find_drawing();
  void finish_drawing();

  KeyReader& keys_;
  LineHistory& history_;
  bool colour_;
  TabCompleter completer_;

  EditBuffer buffer_;
  std::optional<Search> search_;
  std::string hint_;                    // below the message, until the next key
  size_t entry_ = 0;                    // of the history; its size: the message being written
  std::map<size_t, EditBuffer> edits_;  // that message while an entry is shown, and entries that were changed
  bool cleared_ = false;
  bool pasted_ = false;
  bool interrupted_ = false;  // the key before was Ctrl-C on an empty line
  EditLayout drawn_;
};

}  // namespace lagoon
