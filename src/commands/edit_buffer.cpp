#include "commands/edit_buffer.h"

#include "base/byte_size.h"
#include "commands/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
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

/// What a word is made of: everything but blanks and ASCII punctuation. A folded paste is a word.
bool in_word(const EditCell& cell) {
  if (!cell.label.empty()) return true;
  const auto first = static_cast<unsigned char>(cell.text.front());
  return first >= 0x80 || std::isalnum(first) != 0 || first == '_';
}

}  // namespace

std::string paste_label(std::string_view text) {
  const size_t lines = lines_of(text);
  if (lines > 1) return fmt::format("[pasted {} lines]", format_count(lines));
  const auto inner =
      static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }));
  return fmt::format("[pasted {} characters]", format_count(text.size() - inner));
}

std::string EditBuffer::text() const {
  std::string text;
  for (const EditCell& cell : cells_) text += cell.text;
  return text;
}

void EditBuffer::clear() {
  cells_.clear();
  cursor_ = 0;
}

void EditBuffer::assign(std::string_view text) {
  clear();
  if (is_longer(text, most_recalled_lines, most_recalled_bytes)) return insert_folded(text);
  insert(text);
}

void EditBuffer::insert(std::string_view text) {
  // With the character before it, since a mark that combines belongs to that one.
  std::string joined;
  size_t begin = cursor_;
  if (begin > 0 && cells_[begin - 1].label.empty() && !is_break(begin - 1)) joined = cells_[--begin].text;
  joined += text;
  const std::vector<EditCell> fresh = cells_of(joined);
  cells_.erase(cells_.begin() + static_cast<std::ptrdiff_t>(begin), cells_.begin() + static_cast<std::ptrdiff_t>(cursor_));
  cells_.insert(cells_.begin() + static_cast<std::ptrdiff_t>(begin), fresh.begin(), fresh.end());
  cursor_ = begin + fresh.size();
}

void EditBuffer::paste(std::string_view text) {
  if (is_longer(text, most_open_lines, most_open_bytes)) return insert_folded(text);
  insert(text);
}

void EditBuffer::insert_folded(std::string_view text) {
  cells_.insert(cells_.begin() + static_cast<std::ptrdiff_t>(cursor_), {.text = std::string(text), .label = paste_label(text)});
  ++cursor_;
}

void EditBuffer::cut(size_t begin, size_t end) {
  if (begin == end) return;
  const auto first = cells_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = cells_.begin() + static_cast<std::ptrdiff_t>(end);
  killed_.assign(first, last);
  cells_.erase(first, last);
  cursor_ = begin;
}

bool EditBuffer::erase_before() { return left() && erase_at(); }

bool EditBuffer::erase_at() {
  if (cursor_ == cells_.size()) return false;
  cells_.erase(cells_.begin() + static_cast<std::ptrdiff_t>(cursor_));
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
  std::swap(cells_[cursor_ - 1], cells_[cursor_]);
  ++cursor_;
  return true;
}

void EditBuffer::kill_to_line_end() {
  const size_t end = end_of_line(cursor_);
  cut(cursor_, end == cursor_ && end < cells_.size() ? end + 1 : end);  // on its end, the break itself
}

void EditBuffer::kill_to_line_begin() { cut(begin_of_line(cursor_), cursor_); }

void EditBuffer::kill_word_before() {
  const size_t end = cursor_;
  word_left();
  cut(cursor_, end);
}

void EditBuffer::kill_word_after() {
  const size_t begin = cursor_;
  word_right();
  cut(begin, cursor_);
}

void EditBuffer::yank() {
  cells_.insert(cells_.begin() + static_cast<std::ptrdiff_t>(cursor_), killed_.begin(), killed_.end());
  cursor_ += killed_.size();
}

}  // namespace lagoon
