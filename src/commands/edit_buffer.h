// edit_buffer.h: a message while it is written: characters as a person counts them, and a cursor between them. No terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
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

  /// Replaces everything; the cursor stands at the end. Very long text is folded.
  void assign(std::string_view text);
  void clear();

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

  /// Cut and kept for yank().
  void kill_to_line_end();
  void kill_to_line_begin();
  void kill_word_before();
  void kill_word_after();
  void yank();

 private:
  bool is_break(size_t at) const { return cells_[at].text == "\n" && cells_[at].label.empty(); }
  size_t begin_of_line(size_t at) const;
  size_t end_of_line(size_t at) const;
  void cut(size_t begin, size_t end);
  void insert_folded(std::string_view text);

  std::vector<EditCell> cells_;
  size_t cursor_ = 0;
  std::vector<EditCell> killed_;
};

/// "[pasted 10,000 lines]", or characters where it is one line.
std::string paste_label(std::string_view text);

}  // namespace lagoon
