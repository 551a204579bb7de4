#include "commands/edit_buffer.h"

#include "base/byte_size.h"
#include "commands/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <utility>

namespace lagoon {
namespace {

size_t lines_of(std::string_view text) {
  const auto breaks = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  return breaks + (text.empty() || text.back() == '\n' ? 0 : 1);
}

bool is_longer(std::string_view text, size_t lines, size_t bytes) { return text.size() > bytes || lines_of(text) > lines; }

std::vector<EditCell> cells_of(std::string_view text) {
  std::vector<EditCell> cells;
  for (std::string& character : characters_of(text)) cells.push_back({.text = std::move(character), .label = {}});
  return cells;
}

/// Any but the first byte of a character.
bool is_inner(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

/// What a word is made of: everything but blanks and ASCII punctuation. A folded paste is a word.
bool in_word(const EditCell& cell) {
  if (!cell.label.empty()) return true;
  const auto first = static_cast<unsigned char>(cell.text.front());
  return first >= 0x80 || std::isalnum(first) != 0 || first == '_';
}

/// Text of many lines as cells of some lines each; what is left at the end and short stands open.
std::vector<EditCell> pieces_of(std::string_view text) {
  std::vector<EditCell> pieces;
  size_t line = 1;
  while (is_longer(text, EditBuffer::most_open_lines, EditBuffer::most_open_bytes)) {
    size_t end = 0;
    size_t lines = 0;
    for (; lines < EditBuffer::most_recalled_lines && end < text.size(); ++lines) {
      const size_t next = std::min(text.find('\n', end), text.size() - 1) + 1;
      if (next > EditBuffer::most_recalled_bytes) break;
      end = next;
    }
    std::string label =
        lines == 1 ? fmt::format("[line {}]", format_count(line)) : fmt::format("[lines {}-{}]", format_count(line), format_count(line + lines - 1));
    if (lines == 0) {
      end = std::min(EditBuffer::most_recalled_bytes, text.size());
      for (int back = 0; back < 3 && end < text.size() && is_inner(text[end]); ++back) --end;
      label = fmt::format("[part of line {}]", format_count(line));
    }
    pieces.push_back({.text = std::string(text.substr(0, end)), .label = std::move(label)});
    text.remove_prefix(end);
    line += lines;
  }
  for (EditCell& cell : cells_of(text)) pieces.push_back(std::move(cell));
  return pieces;
}

}  // namespace

std::string paste_label(std::string_view text) {
  const size_t lines = lines_of(text);
  if (lines > 1) return fmt::format("[pasted {} lines]", format_count(lines));
  const auto inner = static_cast<size_t>(std::count_if(text.begin(), text.end(), is_inner));
  return fmt::format("[pasted {} characters]", format_count(text.size() - inner));
}

std::string EditBuffer::text() const {
  std::string text;
  for (const EditCell& cell : cells_) text += cell.text;
  return text;
}

void EditBuffer::assign(std::string_view text) {
  changes_.clear();
  before_ = now_ = Streak::none;
  cells_ = is_longer(text, most_recalled_lines, most_recalled_bytes) ? pieces_of(text) : cells_of(text);
  cursor_ = cells_.size();
}

void EditBuffer::assign(EditBuffer other) {
  other.killed_ = std::move(killed_);
  *this = std::move(other);
}

void EditBuffer::replace(size_t begin, size_t end, std::vector<EditCell> fresh, bool typed) {
  const auto first = cells_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = cells_.begin() + static_cast<std::ptrdiff_t>(end);
  const bool joins = typed && before_ == Streak::typing && !changes_.empty() && changes_.back().added < most_typed;
  if (joins) {
    changes_.back().added = begin - changes_.back().at + fresh.size();
  } else {
    if (changes_.size() == most_changes) changes_.erase(changes_.begin());
    changes_.push_back({.at = begin, .added = fresh.size(), .removed = {first, last}, .cursor = cursor_});
  }
  before_ = Streak::none;
  cursor_ = begin + fresh.size();
  cells_.insert(cells_.erase(first, last), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
}

bool EditBuffer::undo() {
  if (changes_.empty()) return false;
  Change change = std::move(changes_.back());
  changes_.pop_back();
  const auto first = cells_.begin() + static_cast<std::ptrdiff_t>(change.at);
  cells_.insert(cells_.erase(first, first + static_cast<std::ptrdiff_t>(change.added)), change.removed.begin(), change.removed.end());
  cursor_ = change.cursor;
  return true;
}

void EditBuffer::insert(std::string_view text) {
  add(text, true);
  now_ = Streak::typing;
}

void EditBuffer::add(std::string_view text, bool typed) {
  // With the character before it, since a mark that combines belongs to that one.
  std::string joined;
  size_t begin = cursor_;
  if (begin > 0 && cells_[begin - 1].label.empty() && !is_break(begin - 1)) joined = cells_[--begin].text;
  joined += text;
  replace(begin, cursor_, cells_of(joined), typed);
}

void EditBuffer::paste(std::string_view text) {
  if (!is_longer(text, most_open_lines, most_open_bytes)) return add(text, false);
  replace(cursor_, cursor_, {{.text = std::string(text), .label = paste_label(text)}});
}

/// @param backwards  the cursor stood at the end
void EditBuffer::cut(size_t begin, size_t end, bool backwards) {
  now_ = before_ == Streak::cutting || begin != end ? Streak::cutting : Streak::none;
  if (begin == end) return;
  if (before_ != Streak::cutting) killed_.clear();
  const auto first = cells_.begin() + static_cast<std::ptrdiff_t>(begin);
  killed_.insert(backwards ? killed_.begin() : killed_.end(), first, first + static_cast<std::ptrdiff_t>(end - begin));
  replace(begin, end, {});
}

bool EditBuffer::erase_before() {
  if (cursor_ == 0) return false;
  replace(cursor_ - 1, cursor_, {});
  return true;
}

bool EditBuffer::erase_at() {
  if (cursor_ == cells_.size()) return false;
  replace(cursor_, cursor_ + 1, {});
  return true;
}

bool EditBuffer::left() {
  if (cursor_ == 0) return false;
  --cursor_;
  return true;
}

bool EditBuffer::right() {
  if (cursor_ == cells_.size()) return false;
  ++cursor_;
  return true;
}

bool EditBuffer::word_left() {
  const size_t before = cursor_;
  while (cursor_ > 0 && !in_word(cells_[cursor_ - 1])) --cursor_;
  while (cursor_ > 0 && in_word(cells_[cursor_ - 1])) --cursor_;
  return cursor_ != before;
}

bool EditBuffer::word_right() {
  const size_t before = cursor_;
  while (cursor_ < cells_.size() && !in_word(cells_[cursor_])) ++cursor_;
  while (cursor_ < cells_.size() && in_word(cells_[cursor_])) ++cursor_;
  return cursor_ != before;
}

size_t EditBuffer::begin_of_line(size_t at) const {
  while (at > 0 && !is_break(at - 1)) --at;
  return at;
}

size_t EditBuffer::end_of_line(size_t at) const {
  while (at < cells_.size() && !is_break(at)) ++at;
  return at;
}

bool EditBuffer::line_begin() {
  const size_t before = cursor_;
  cursor_ = begin_of_line(cursor_);
  return cursor_ != before;
}

bool EditBuffer::line_end() {
  const size_t before = cursor_;
  cursor_ = end_of_line(cursor_);
  return cursor_ != before;
}

bool EditBuffer::up() {
  const size_t begin = begin_of_line(cursor_);
  if (begin == 0) return false;
  const size_t above = begin_of_line(begin - 1);
  cursor_ = std::min(above + (cursor_ - begin), begin - 1);
  return true;
}

bool EditBuffer::down() {
  const size_t end = end_of_line(cursor_);
  if (end == cells_.size()) return false;
  const size_t column = cursor_ - begin_of_line(cursor_);
  cursor_ = std::min(end + 1 + column, end_of_line(end + 1));
  return true;
}

bool EditBuffer::transpose() {
  if (cells_.size() < 2 || cursor_ == 0) return false;
  if (cursor_ == cells_.size()) --cursor_;
  replace(cursor_ - 1, cursor_ + 1, {cells_[cursor_], cells_[cursor_ - 1]});
  return true;
}

void EditBuffer::kill_all() {
  killed_ = std::move(cells_);
  assign("");
}

void EditBuffer::kill_to_line_end() {
  const size_t end = end_of_line(cursor_);
  cut(cursor_, end == cursor_ && end < cells_.size() ? end + 1 : end, false);  // on its end, the break itself
}

void EditBuffer::kill_to_line_begin() { cut(begin_of_line(cursor_), cursor_, true); }

void EditBuffer::kill_word_before() {
  const size_t end = cursor_;
  word_left();
  const size_t begin = std::exchange(cursor_, end);
  cut(begin, end, true);
}

void EditBuffer::kill_word_after() {
  const size_t begin = cursor_;
  word_right();
  const size_t end = std::exchange(cursor_, begin);
  cut(begin, end, false);
}

void EditBuffer::yank() { replace(cursor_, cursor_, killed_); }

}  // namespace lagoon
