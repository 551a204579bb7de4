#include "commands/line_editor.h"

#include "base/utf8.h"
#include "commands/interrupt.h"
#include "commands/output.h"
#include "commands/terminal_modes.h"
#include "commands/terminal_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

namespace lagoon {

EditedLine LineEditor::read(const std::string& text) {
  buffer_.assign(text);
  edits_.clear();
  search_.reset();
  hint_.clear();
  interrupted_ = false;
  cleared_ = false;
  pasted_ = false;
  entry_ = history_.entries().size();
  drawn_ = {};
  while (true) {
    if (!keys_.has_more()) draw();
    const Outcome outcome = handle(keys_.next());
    if (outcome == Outcome::going_on) continue;
    hint_.clear();
    search_.reset();
    if (outcome == Outcome::gone) return {.end = LineEnd::hang_up, .text = {}};
    finish_drawing();
    if (outcome == Outcome::sent) return {.end = LineEnd::line, .text = buffer_.text(), .cleared = cleared_, .pasted = pasted_};
    return {.end = outcome == Outcome::left ? LineEnd::leave : LineEnd::signal, .text = {}};
  }
}

LineEditor::Outcome LineEditor::handle(const Key& key) {
  if (key.kind == KeyKind::news) return handle_news();
  if (key.kind == KeyKind::hang_up) return Outcome::gone;
  hint_.clear();
  buffer_.next_key();
  const bool was_interrupted = std::exchange(interrupted_, false);
  if (search_) {
    if (const std::optional<Outcome> outcome = handle_search(key)) return *outcome;
  }
  switch (key.kind) {
    case KeyKind::closed:
      return Outcome::left;
    case KeyKind::enter:
      return enter();
    case KeyKind::new_line:
      buffer_.insert("\n");
      break;
    case KeyKind::text:
      if (buffer_.cursor() == 0) pasted_ = false;
      buffer_.insert(key.text);
      break;
    case KeyKind::paste:
      if (buffer_.cursor() == 0) pasted_ = true;
      buffer_.paste(key.text);
      break;
    case KeyKind::tab:
      complete();
      break;
    case KeyKind::control:
      interrupted_ = was_interrupted;
      return handle_control(key.letter);
    case KeyKind::alt:
      handle_alt(key.letter);
      break;
    default:
      move(key.kind);
  }
  return Outcome::going_on;
}

bool LineEditor::move(KeyKind kind) {
  switch (kind) {
    case KeyKind::left:
      return buffer_.left();
    case KeyKind::right:
      return buffer_.right();
    case KeyKind::word_left:
      return buffer_.word_left();
    case KeyKind::word_right:
      return buffer_.word_right();
    case KeyKind::home:
      return buffer_.line_begin();
    case KeyKind::end:
      return buffer_.line_end();
    case KeyKind::backspace:
      return buffer_.erase_before();
    case KeyKind::remove:
      return buffer_.erase_at();
    case KeyKind::alt_backspace:
      buffer_.kill_word_before();
      return true;
    case KeyKind::up:
      if (!buffer_.up()) older();
      return true;
    case KeyKind::down:
      if (!buffer_.down()) newer();
      return true;
    default:
      return false;
  }
}

LineEditor::Outcome LineEditor::handle_control(char letter) {
  if (letter == 'C') return clear_or_leave();
  interrupted_ = false;
  switch (letter) {
    case 'D':
      if (buffer_.empty()) return Outcome::left;
      buffer_.erase_at();
      break;
    case 'A':
      buffer_.line_begin();
      break;
    case 'E':
      buffer_.line_end();
      break;
    case 'B':
      buffer_.left();
      break;
    case 'F':
      buffer_.right();
      break;
    case 'P':
      move(KeyKind::up);
      break;
    case 'N':
      move(KeyKind::down);
      break;
    case 'K':
      buffer_.kill_to_line_end();
      break;
    case 'U':
      buffer_.kill_to_line_begin();
      break;
    case 'W':
      buffer_.kill_word_before();
      break;
    case 'Y':
      buffer_.yank();
      break;
    case '_':
      buffer_.undo();
      break;
    case 'T':
      buffer_.transpose();
      break;
    case 'R':
      begin_search();
      break;
    case 'L':
      write_output("\x1b[H\x1b[2J");
      drawn_ = {};
      break;
    case 'Z':
      ::raise(SIGTSTP);  // the handler gives the terminal back and takes it again
      break;
    default:
      break;
  }
  return Outcome::going_on;
}

void LineEditor::handle_alt(char letter) {
  if (letter == 'b' || letter == 'B') buffer_.word_left();
  if (letter == 'f' || letter == 'F') buffer_.word_right();
  if (letter == 'd' || letter == 'D') buffer_.kill_word_after();
}

LineEditor::Outcome LineEditor::handle_news() {
  const SignalNews news = take_news();
  if (news.leaving) return Outcome::signalled;
  if (news.interrupted) return clear_or_leave();
  if (news.resized) find_drawing();
  if (news.resumed) {
    // The shell has written meanwhile: begin below.
    write_output("\r");
    drawn_ = {};
  }
  return Outcome::going_on;
}

LineEditor::Outcome LineEditor::enter() {
  const std::string text = buffer_.text();
  const size_t last = text.find_last_not_of('\\');
  const size_t backslashes = text.size() - (last == std::string::npos ? 0 : last + 1);
  if (backslashes % 2 == 0) return Outcome::sent;
  while (buffer_.right()) continue;
  buffer_.erase_before();
  buffer_.insert("\n");
  return Outcome::going_on;
}

LineEditor::Outcome LineEditor::clear_or_leave() {
  if (search_) {
    buffer_.assign(search_->before);
    search_.reset();
    return Outcome::going_on;
  }
  if (!buffer_.empty()) {
    buffer_.kill_all();
    cleared_ = true;
    edits_.clear();
    entry_ = history_.entries().size();
    interrupted_ = false;
    return Outcome::going_on;
  }
  if (interrupted_) return Outcome::left;
  interrupted_ = true;
  hint_ = "Ctrl-C again or Ctrl-D leaves";
  return Outcome::going_on;
}

void LineEditor::complete() {
  std::string line;
  for (size_t at = 0; at < buffer_.cursor(); ++at) line += buffer_.cells()[at].text;
  const TabCompletion completion = completer_(line);
  const std::string typed = line.substr(std::min(completion.begin, line.size()));
  std::vector<std::string> fitting;
  for (const std::string& word : completion.words) {
    if (word.starts_with(typed)) fitting.push_back(word);
  }
  if (fitting.empty()) {
    if (!line.starts_with('/')) buffer_.insert("\t");
    return;
  }
  std::string common = fitting.front();
  for (const std::string& word : fitting) {
    while (!word.starts_with(common)) common.pop_back();
  }
  while (!is_valid_utf8(common)) common.pop_back();  // words may part in the middle of a character
  if (common.size() > typed.size()) buffer_.paste(common.substr(typed.size()));
  if (fitting.size() == 1) return;
  for (const std::string& word : fitting) hint_ += (hint_.empty() ? "" : "  ") + word;
}

void LineEditor::leave_entry(const EditBuffer& left) {
  if (left.changed() || entry_ == history_.entries().size()) {
    edits_[entry_] = left;
  } else {
    edits_.erase(entry_);
  }
}

void LineEditor::show_entry(size_t at) {
  leave_entry(buffer_);
  entry_ = at;
  if (const auto edit = edits_.find(at); edit != edits_.end()) {
    buffer_.assign(edit->second);
  } else {
    buffer_.assign(history_.entries()[at]);
  }
}

void LineEditor::older() {
  if (entry_ > 0) show_entry(entry_ - 1);
}

void LineEditor::newer() {
  if (entry_ < history_.entries().size()) show_entry(entry_ + 1);
}

void LineEditor::begin_search() { search_ = Search{.part = {}, .at = history_.entries().size(), .found = true, .before = buffer_}; }

void LineEditor::search_on(bool backwards) {
  const std::optional<size_t> found = backwards ? history_.find_before(search_->at, search_->part)
                                                : history_.find_from(std::min(search_->at + 1, history_.entries().size()), search_->part);
  search_->found = found.has_value();
  if (!found) return;
  search_->at = *found;
  buffer_.assign(history_.entries()[*found]);
}

/// The first line of what was typed or pasted, as long as a search may be.
void LineEditor::add_to_search(const std::string& text) {
  constexpr size_t longest = 200;
  for (const std::string& character : characters_of(std::string_view(text).substr(0, std::min(text.find('\n'), longest)))) {
    if (search_->part.size() + character.size() <= longest) search_->part += character;
  }
}

/// nullopt: the key is none of the search's, which is over; the entry stays and the key does what it does.
std::optional<LineEditor::Outcome> LineEditor::handle_search(const Key& key) {
  const bool control = key.kind == KeyKind::control;
  if (control && key.letter == 'G') {
    buffer_.assign(search_->before);
    search_.reset();
    return Outcome::going_on;
  }
  if (control && (key.letter == 'R' || key.letter == 'S')) {
    if (!search_->part.empty()) search_on(key.letter == 'R');
    return Outcome::going_on;
  }
  const bool adds = key.kind == KeyKind::text || key.kind == KeyKind::paste;
  if (adds || key.kind == KeyKind::backspace) {
    if (adds) {
      add_to_search(key.text);
      if (search_->at < history_.entries().size()) ++search_->at;  // the entry that is shown may fit the longer text too
    } else if (std::vector<std::string> characters = characters_of(search_->part); !characters.empty()) {
      search_->part.resize(search_->part.size() - characters.back().size());
      search_->at = history_.entries().size();
    }
    if (search_->part.empty()) {
      buffer_.assign(search_->before);
      search_->found = true;
    } else {
      search_on(true);
    }
    return Outcome::going_on;
  }
  if (control && key.letter == 'C') return clear_or_leave();
  const bool shows_entry = search_->at < history_.entries().size();
  if (shows_entry) {
    leave_entry(search_->before);
    entry_ = search_->at;
  }
  search_.reset();
  if (key.kind == KeyKind::escape) return Outcome::going_on;
  return std::nullopt;
}

std::string LineEditor::prompt() const {
  if (!search_) return "> ";
  return fmt::format("({} `{}') ", search_->found ? "search" : "not found", visible_line(search_->part));
}

void LineEditor::draw(bool whole) {
  const TerminalSize size = terminal_size();
  EditLayout layout = lay_out(prompt(), buffer_, size.columns);
  if (!whole) layout = window_of(layout, std::max(size.rows - (hint_.empty() ? 0 : 1), 1));
  std::string out = "\r";
  if (drawn_.cursor_row > 0) out += fmt::format("\x1b[{}A", drawn_.cursor_row);
  out += "\x1b[J";
  for (size_t row = 0; row < layout.rows.size(); ++row) out += (row == 0 ? "" : "\r\n") + layout.rows[row].text;
  int below = static_cast<int>(layout.rows.size()) - 1 - layout.cursor_row;
  if (!hint_.empty() && size.rows > 1) {
    std::string hint;
    for (const std::string& character : characters_of(hint_)) {
      if (columns_of(hint) + columns_of(character) < size.columns) hint += character;
    }
    out += "\r\n" + (colour_ ? "\x1b[2m" + hint + "\x1b[0m" : hint);
    ++below;
  }
  if (below > 0) out += fmt::format("\x1b[{}A", below);
  out += "\r";
  const std::string before = layout.rows[static_cast<size_t>(layout.cursor_row)].text.substr(0, layout.cursor_byte);
  if (std::any_of(before.begin(), before.end(), [](char byte) { return static_cast<unsigned char>(byte) >= 0x80; })) {
    out += before;  // terminals differ in the columns that such characters take: only what is written again ends where it ended
  } else if (layout.cursor_column > 0) {
    out += fmt::format("\x1b[{}C", layout.cursor_column);
  }
  drawn_ = std::move(layout);
  write_output(out);
  flush_output();
}

/// The window has another width. Terminals wrap the rows that have become too wide; where the first one stands then follows from their widths.
void LineEditor::find_drawing() {
  const int columns = std::max(terminal_size().columns, 1);
  int above = 0;
  for (int row = 0; row < drawn_.cursor_row && row < static_cast<int>(drawn_.rows.size()); ++row)
    above += std::max((drawn_.rows[static_cast<size_t>(row)].columns + columns - 1) / columns, 1);
  drawn_.cursor_row = above + drawn_.cursor_column / columns;
}

void LineEditor::finish_drawing() {
  hint_.clear();
  while (buffer_.right()) continue;
  draw(true);  // the whole message stays, its end last
  write_output("\r\n");
  flush_output();
}

}  // namespace lagoon
