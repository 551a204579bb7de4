#include "commands/key_reader.h"

#include "base/utf8.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <utility>

namespace lagoon {
namespace {

constexpr char escape = '\x1b';
constexpr char ctrl_c = '\x03';
constexpr char bell = '\x07';
constexpr std::string_view paste_end = "\x1b[201~";

struct NamedSequence {
  std::string_view bytes;  // behind Escape [
  KeyKind kind;
};
constexpr std::array<NamedSequence, 26> sequences = {{
    {"A", KeyKind::up},           {"B", KeyKind::down},          {"C", KeyKind::right},           {"D", KeyKind::left},
    {"H", KeyKind::home},         {"F", KeyKind::end},           {"1~", KeyKind::home},           {"7~", KeyKind::home},
    {"4~", KeyKind::end},         {"8~", KeyKind::end},          {"3~", KeyKind::remove},         {"1;5C", KeyKind::word_right},
    {"1;5D", KeyKind::word_left}, {"1;3C", KeyKind::word_right}, {"1;3D", KeyKind::word_left},    {"1;9C", KeyKind::word_right},
    {"1;9D", KeyKind::word_left}, {"5C", KeyKind::word_right},   {"5D", KeyKind::word_left},      {"200~", KeyKind::paste},
    {"13;2u", KeyKind::new_line}, {"13;3u", KeyKind::new_line},  {"27;2;13~", KeyKind::new_line}, {"27;3;13~", KeyKind::new_line},
    {"27u", KeyKind::escape},     {"13u", KeyKind::enter},
}};

/// Whether the terminal is another's by now; false where there is none.
bool in_background(int input) {
  const pid_t foreground = ::tcgetpgrp(input);
  return foreground > 0 && foreground != ::getpgrp();
}

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; }

/// Terminals send a paste's lines with carriage returns.
std::string with_line_feeds(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\r') {
      out += text[at];
    } else if (at + 1 == text.size() || text[at + 1] != '\n') {
      out += '\n';
    }
  }
  return out;
}

}  // namespace

KeyReader::Wait KeyReader::fill(int timeout_ms, bool hears_news) {
  std::array<pollfd, 2> polls = {{{input_, POLLIN, 0}, {wake_, POLLIN, 0}}};
  const bool both = hears_news && wake_ >= 0;
  int ready = -1;
  do {
    ready = ::poll(polls.data(), both ? 2 : 1, timeout_ms);
  } while (ready < 0 && errno == EINTR && !hears_news);
  if (ready < 0) return errno == EINTR ? Wait::news : Wait::hang_up;
  if (both && (polls[1].revents & POLLIN) != 0) return Wait::news;
  if (ready == 0) return Wait::timeout;
  // The read would stop us too, but begin anew in the foreground and wait there for a key, deaf to the news that a drawing is due.
  if (in_background(input_)) {
    ::raise(SIGTTIN);
    if (!in_background(input_)) return Wait::timeout;
  }
  std::array<char, 1 << 16> buffer;
  const ssize_t got = ::read(input_, buffer.data(), buffer.size());
  if (got > 0) {
    if (at_ == bytes_.size()) {
      bytes_.clear();
      at_ = 0;
    }
    bytes_.append(buffer.data(), static_cast<size_t>(got));
    return Wait::data;
  }
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return Wait::timeout;
  return got == 0 && (polls[0].revents & POLLHUP) == 0 ? Wait::closed : Wait::hang_up;
}

bool KeyReader::more_within(int timeout_ms) { return at_ < bytes_.size() || (timeout_ms > 0 && fill(timeout_ms, false) == Wait::data); }

bool KeyReader::has_more() { return at_ < bytes_.size(); }

bool KeyReader::take_ctrl_c() {
  while (fill(0, false) == Wait::data) continue;
  const size_t place = bytes_.find(ctrl_c, at_);
  if (place == std::string::npos) return false;
  at_ = place + 1;
  return true;
}

void KeyReader::discard() {
  bytes_.clear();
  at_ = 0;
  ::tcflush(input_, TCIFLUSH);
}

Key KeyReader::next() {
  while (at_ == bytes_.size()) {
    switch (fill(-1, true)) {
      case Wait::data:
      case Wait::timeout:
        break;
      case Wait::news:
        return {.kind = KeyKind::news};
      case Wait::closed:
        return {.kind = KeyKind::closed};
      case Wait::hang_up:
        return {.kind = KeyKind::hang_up};
    }
  }
  const char byte = bytes_[at_];
  if (byte == escape) return escape_key();
  if (!is_control(byte)) return text_key();
  ++at_;
  if (byte == '\r' || byte == '\n') return {.kind = KeyKind::enter};
  if (byte == '\t') return {.kind = KeyKind::tab};
  if (byte == 0x7f || byte == '\b') return {.kind = KeyKind::backspace};
  return {.kind = KeyKind::control, .letter = static_cast<char>(byte + '@')};
}

Key KeyReader::text_key() {
  // All that lies there, so that a fast typist or a paste without marks is drawn once.
  std::string text;
  while (at_ < bytes_.size()) {
    if (is_control(bytes_[at_])) break;
    std::string_view rest = std::string_view(bytes_).substr(at_);
    size_t length = valid_utf8_length(rest);
    bool goes_on = false;
    while (length == 0 && invalid_utf8_length(rest, &goes_on) > 0 && goes_on) {
      if (!text.empty()) return {.kind = KeyKind::text, .text = std::move(text)};
      if (fill(patience_.sequence_ms, false) != Wait::data) break;
      rest = std::string_view(bytes_).substr(at_);
      length = valid_utf8_length(rest);
    }
    if (length == 0 && !text.empty()) break;
    text.append(rest.substr(0, std::max<size_t>(length, 1)));
    at_ += std::max<size_t>(length, 1);
    if (length == 0) break;
  }
  return {.kind = KeyKind::text, .text = std::move(text)};
}

Key KeyReader::escape_key() {
  ++at_;
  if (!more_within(patience_.escape_ms)) return {.kind = KeyKind::escape};
  const char next = bytes_[at_];
  if (next == escape) return {.kind = KeyKind::escape};  // the second one begins a key of its own
  if (static_cast<unsigned char>(next) >= 0x80) return text_key();
  ++at_;
  if (next == '[' || next == 'O') return sequence_key();
  if (next == ']' || next == 'P' || next == '_') return string_key(next);
  if (next == '\r' || next == '\n') return {.kind = KeyKind::new_line};
  if (next == '\x7f' || next == '\b') return {.kind = KeyKind::alt_backspace};
  if (is_control(next)) return {.kind = KeyKind::unknown};
  return {.kind = KeyKind::alt, .letter = next};
}

Key KeyReader::sequence_key() {
  constexpr size_t longest = 256;
  std::string sequence;
  while (sequence.size() < longest && more_within(patience_.sequence_ms)) {
    const char byte = bytes_[at_];
    if (byte < ' ' || byte > '~') break;  // no part of any sequence: a key of its own
    ++at_;
    sequence += byte;
    if (byte >= '@' && sequence != "[") break;  // the Linux console's function keys have a second bracket
  }
  const auto* named = std::find_if(sequences.begin(), sequences.end(), [&](const NamedSequence& row) { return row.bytes == sequence; });
  if (named == sequences.end()) return {.kind = KeyKind::unknown};
  return named->kind == KeyKind::paste ? paste_key() : Key{.kind = named->kind};
}

/// What a terminal says of itself, up to BEL or Escape \\. Without that end it was a person's Alt with the letter, and nothing behind it is lost.
Key KeyReader::string_key(char letter) {
  constexpr size_t longest = size_t{64} << 10;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::string string;
  while (more_within(patience_.sequence_ms) && std::chrono::steady_clock::now() < deadline) {
    const char byte = bytes_[at_];
    const bool ends = byte == bell || (byte == '\\' && string.ends_with(escape));
    if (!ends && (string.ends_with(escape) || (is_control(byte) && byte != escape))) break;
    ++at_;
    string += byte;
    if (ends || string.size() == longest) return {.kind = KeyKind::unknown};
  }
  bytes_.insert(at_, string);
  return {.kind = KeyKind::alt, .letter = letter};
}

Key KeyReader::paste_key() {
  bytes_.erase(0, std::exchange(at_, 0));  // so that places stay what they are while more comes
  size_t searched = 0;
  while (true) {
    const size_t end = bytes_.find(paste_end, searched);
    if (end != std::string::npos) {
      Key key = {.kind = KeyKind::paste, .text = with_line_feeds(std::string_view(bytes_).substr(at_, end - at_))};
      at_ = end + paste_end.size();
      return key;
    }
    searched = bytes_.size() - std::min(bytes_.size(), paste_end.size() - 1);
    const Wait wait = fill(-1, false);
    // Whoever waits for the end of a paste that never comes presses Ctrl-C.
    const bool given_up = wait == Wait::data && bytes_.back() == ctrl_c;
    if (given_up || wait == Wait::closed || wait == Wait::hang_up) {
      Key key = {.kind = KeyKind::paste, .text = with_line_feeds(std::string_view(bytes_).substr(at_, bytes_.size() - at_ - (given_up ? 1 : 0)))};
      at_ = bytes_.size();
      return key;
    }
  }
}

}  // namespace lagoon
