// text_operations.h: Python's operations on str. Every result says byte by byte where it comes from: what is kept keeps its
// origin, a changed character has the origin of the one that it was, what is put in brings its own. Lengths and positions
// are in characters, as in Python, unless a name says bytes.
#pragma once

#include "text/jinja/value.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon::jinja {

class Budget;

/// The byte where character `index` begins; the size for index == characters. @pre index <= characters
size_t byte_of_character(const Text& text, size_t index);
/// The number of characters before byte `byte`.
size_t character_of_byte(const Text& text, size_t byte);

/// The first place of `needle` from byte `from` on, or npos. Unlike std::string's own, never takes the product of the lengths.
size_t find_bytes(std::string_view text, std::string_view needle, size_t from = 0);
size_t find_bytes_last(std::string_view text, std::string_view needle);

/// The character at `index`. @pre index < characters
MarkedText character_of(const Text& text, size_t index);
/// `count` characters from `first`, each `step` after the one before.
MarkedText text_slice(const Text& text, int64_t first, int64_t step, int64_t count);
MarkedText repeat(const MarkedText& text, size_t count);

enum class Side { both, left, right };
/// Without white space at the ends, or without any of the characters of `set`.
MarkedText strip(const MarkedText& text, Side side, const std::string* set = nullptr);

/// At most `limit` cuts from the left, or from the right; a negative limit means no limit. @pre separator is not empty
/// All of them raise LimitError for more than the items that a list may have (RenderLimits).
std::vector<MarkedText> split(const MarkedText& text, std::string_view separator, int64_t limit);
std::vector<MarkedText> split_right(const MarkedText& text, std::string_view separator, int64_t limit);
/// At white space, runs of which count as one.
std::vector<MarkedText> split_space(const MarkedText& text, int64_t limit);
std::vector<MarkedText> split_space_right(const MarkedText& text, int64_t limit);
std::vector<MarkedText> split_lines(const MarkedText& text, bool keep_ends);

/// At most `limit` replacements; a negative limit means no limit. An empty `old` matches between all characters.
/// Each takes steps. @throws Raised (LimitError) where the result would pass the limit of a text
MarkedText replace(const MarkedText& text, std::string_view old, const MarkedText& with, int64_t limit, Budget& budget);

/// Each character replaced by what `map(bytes, position)` gives.
MarkedText map_characters(const MarkedText& text, const std::function<std::string(const std::string& bytes, size_t at)>& map);

MarkedText upper(const MarkedText& text);
MarkedText lower(const MarkedText& text);
MarkedText capitalize(const MarkedText& text);
MarkedText swap_case(const MarkedText& text);
MarkedText title(const MarkedText& text);

/// `count` times the character `fill`, as data: it is there because a number said so.
MarkedText padding(size_t count, std::string_view fill = " ");

/// HTML escapes of & < > ' ". Text that is markup already stays.
Value escape_markup(const Value& value, Budget& budget);
/// left + right where one of them is markup: the other is escaped.
Value joined_markup(const Value& left, const Value& right, Budget& budget);

}  // namespace lagoon::jinja
