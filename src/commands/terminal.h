// terminal.h: how wide terminals and texts are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// Columns of the terminal behind standard error, asked anew with each call, since it may be resized; 80 where it does not say.
int error_columns();

/// Columns that help is written for: those of the terminal behind standard output, else of COLUMNS, else 80; from 40 to 100 whatever they
/// say, since narrower text is no easier to read.
int help_columns();

/// At most how many columns a text takes: two for each character beyond ASCII.
int terminal_width(std::string_view text);

/// The text cut at blanks into lines of at most `width` columns; a word that is longer stands on a line of its own. Newlines in it stay.
std::vector<std::string> wrapped(std::string_view text, int width);

}  // namespace lagoon
