// edit_view.h: where the characters of a message stand on a terminal of so many columns. No terminal: rows of text and a place for the cursor.
#pragma once

#include "commands/edit_buffer.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

struct EditRow {
  std::string text;
  int columns = 0;
};

struct EditLayout {
  std::vector<EditRow> rows;  // at least one; none is as wide as the terminal, so that none wraps by itself
  int cursor_row = 0;
  int cursor_column = 0;
  size_t cursor_byte = 0;  // in its row's text
};

/// The prompt stands before the first line, blanks of its width before the others.
/// @param columns  of the terminal, at least 1
EditLayout lay_out(std::string_view prompt, const EditBuffer& buffer, int columns);

/// The part of a layout that a terminal of so many rows shows, the cursor's row among them.
EditLayout window_of(const EditLayout& layout, int rows);

}  // namespace lagoon
