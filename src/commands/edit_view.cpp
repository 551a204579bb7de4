#include "commands/edit_view.h"

#include "commands/terminal_text.h"

#include <algorithm>

namespace lagoon {
namespace {

constexpr int tab_columns = 4;

/// Puts characters into rows.
class RowWriter {
 public:
  RowWriter(EditLayout& layout, int width, int indent) : layout_(layout), width_(width), indent_(indent) { layout_.rows.emplace_back(); }

  void put(const std::string& character) {
    const int columns = columns_of(character);
    if (row().columns + columns > width_ && row().columns > 0) layout_.rows.emplace_back();
    row().text += character;
    row().columns += columns;
  }

  void new_line() {
    layout_.rows.emplace_back();
    if (indent_ < width_) row() = {.text = std::string(static_cast<size_t>(indent_), ' '), .columns = indent_};
  }

  /// The next character, of so many columns, would stand here.
  void mark_cursor(int columns) {
    if (row().columns + columns > width_ && row().columns > 0) layout_.rows.emplace_back();
    layout_.cursor_row = static_cast<int>(layout_.rows.size()) - 1;
    layout_.cursor_column = row().columns;
    layout_.cursor_byte = row().text.size();
  }

 private:
  EditRow& row() { return layout_.rows.back(); }

  EditLayout& layout_;
  int width_;
  int indent_;
};

/// What a cell looks like, cut where rows may break.
std::vector<std::string> shown(const EditCell& cell) {
  if (!cell.label.empty()) return characters_of(cell.label);
  if (cell.text == "\t") return std::vector<std::string>(tab_columns, " ");
  std::string text = visible_line(cell.text);
  if (text == cell.text) {
    // A mark that combines with nothing gets something to stand on.
    if (columns_of(text) == 0) text = "\xe2\x97\x8c" + text;
    return {text};
  }
  return characters_of(text);
}

}  // namespace

EditLayout lay_out(std::string_view prompt, const EditBuffer& buffer, int columns) {
  EditLayout layout;
  RowWriter rows(layout, std::max(columns - 1, 1), columns_of(prompt));
  for (const std::string& character : characters_of(prompt)) rows.put(character);
  const std::vector<EditCell>& cells = buffer.cells();
  for (size_t at = 0; at < cells.size(); ++at) {
    const bool is_break = cells[at].text == "\n" && cells[at].label.empty();
    const std::vector<std::string> characters = is_break ? std::vector<std::string>() : shown(cells[at]);
    if (at == buffer.cursor()) rows.mark_cursor(is_break || characters.empty() ? 0 : columns_of(characters.front()));
    if (is_break) rows.new_line();
    for (const std::string& character : characters) rows.put(character);
  }
  if (buffer.cursor() == cells.size()) rows.mark_cursor(0);
  return layout;
}

EditLayout window_of(const EditLayout& layout, int rows) {
  const int height = static_cast<int>(layout.rows.size());
  if (height <= rows) return layout;
  const int first = std::clamp(layout.cursor_row - rows + 1, 0, height - rows);
  EditLayout window = layout;
  window.rows.assign(layout.rows.begin() + first, layout.rows.begin() + first + rows);
  window.cursor_row -= first;
  return window;
}

}  // namespace lagoon
