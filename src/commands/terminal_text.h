// terminal_text.h: text from outside on a terminal: what must not reach it raw, where a character ends, and how many columns it takes.
// Independent of the locale: the program's texts are UTF-8 wherever it runs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// Control characters (C0, DEL, C1) and bytes that are no UTF-8 as \xNN; newlines and tabs stay.
std::string visible(std::string_view text);

/// The same for one line: newlines and tabs are escaped too, as \n and \t.
std::string visible_line(std::string_view text);

/// Cuts text into what a person calls characters (Unicode's extended grapheme clusters). A newline is one; a byte that is no UTF-8 is one.
std::vector<std::string> characters_of(std::string_view text);

/// Columns on a terminal: two for wide characters, none for combining ones. @pre no control characters
int columns_of(std::string_view text);

}  // namespace lagoon
