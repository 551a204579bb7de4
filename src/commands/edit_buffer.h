// edit_buffer.h: a message while it is written: characters as a person counts them, and a cursor between them. No terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lagoon {

/// One character, or a folded paste that is handled as one.
struct EditCell {
  std::string text;   // what is sent
  std::string label;  // what is shown instead; empty: the text
  bool operator==(const EditCell&) const = default;
};

class EditBuffer {
 public:
  /// More lines or bytes than this are folded when they come at once.
  static constexpr size_t most_open_lines = 5;
  static constexpr size_t most_open_bytes = 2000;
  /// What is brought back to be changed may be longer.
  static constexpr size_t most_recalled_lines = 200;
  static constexpr size_t most_recalled_bytes = 20000;

  const std::vector<EditCell>& cells() const { return cells_; }
  size_t cursor() const { return cursor_; }
  bool empty() const { return cells_.empty(); }
  std::string text() const;

  /// Replaces everything, with nothing to undo; the cursor stands at the end. Very long text is folded, in pieces that can be erased one by one.
  void assign(std::string_view text);
  /// Becomes another with its cursor and changes; what was cut stays.
  void assign(EditBuffer other);

  /// What one key does begins: typing and cutting join what the key right before it typed or cut.
  void next_key() { before_ = std::exchange(now_, Streak::none); }

  /// At the cursor. What combines with the character before it becomes part of it.
  void insert(std::string_view text);

  /// As insert(), but long text is folded into one cell.
  void paste(std::string_view text);

  /// Each says whether anything changed.
  bool erase_before();
  bool erase_at();
  bool left();
  bool right();
  bool word_left();
  bool word_right();
  bool line_begin();
  bool line_end();
  /// To the same column of the line above or below, by cells; false on the first or last line.
  bool up();
  bool down();
  bool transpose();

  /// Takes the last change back; a run of up to 20 typed characters is one, as in a shell. False where there is none.
  bool undo();
  bool changed() const { return !changes_.empty(); }

  /// Cut and kept for yank().
  void kill_all();  // not to be undone
  void kill_to_line_end();
  void kill_to_line_begin();
  void kill_word_before();
  void kill_word_after();
  void yank();

 private:
  enum class Streak { none, typing, cutting };

  /// Cells that were put where others had been.
  struct Change {
    size_t at = 0;
    size_t added = 0;
    std::vector<EditCell> removed;
    size_t cursor = 0;
  };
  static constexpr size_t most_changes = 500;
  static constexpr size_t most_typed = 20;

  bool is_break(size_t at) const { return cells_[at].text == "\n" && cells_[at].label.empty(); }
  size_t begin_of_line(size_t at) const;
  size_t end_of_line(size_t at) const;
  /// All changes but the first text go this way. The cursor stands behind what is new.
  void replace(size_t begin, size_t end, std::vector<EditCell> fresh, bool typed = false);
  void add(std::string_view text, bool typed);
  void cut(size_t begin, size_t end, bool backwards);

  std::vector<EditCell> cells_;
  size_t cursor_ = 0;
  std::vector<Change> changes_;  // the last one last
  std::vector<EditCell> killed_;
  Streak before_ = Streak::none;
  Streak now_ = Streak::none;
};

/// "[pasted 10,000 lines]", or characters where it is one line.
std::string paste_label(std::string_view text);

}  // namespace lagoon
