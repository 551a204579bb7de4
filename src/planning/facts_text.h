// facts_text.h: facts for people, as a table for a terminal of 100 columns and as Markdown.
#pragma once

#include "planning/facts.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// "117,561,977,600 (117.6B)", "512 tokens", "yes", "Not disclosed", and "-" where the note says why there is no value.
std::string shown_value(const Fact& fact);

/// "config /num_hidden_layers", "published: model card", "calc: 3,072 / 48".
std::string shown_source(const Fact& fact);

/// Groups with a line for each fact, notes below it. @param definitions  what each fact counts, too
std::string facts_table(std::span<const Fact> facts, bool definitions);

std::string facts_markdown(std::span<const Fact> facts, bool definitions);

/// "49,728", "12,441.50". @param number  not negative, below 2^53
std::string exact_text(const Json& number);

/// Cells side by side, wrapped to their widths, two blanks between, behind a mark on the first line; each line ends with a newline.
std::string wrapped_cells(std::string_view mark, const std::vector<std::string>& cells, const std::vector<size_t>& widths);

/// Text that a Markdown table shows as it is, whatever it holds: on one line, nothing in it is markup.
std::string escape_markdown(std::string_view text);

}  // namespace lagoon
