#include "commands/message_source.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "commands/chat_input.h"
#include "commands/interrupt.h"
#include "commands/output.h"

#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace lagoon {

EditorSource::EditorSource(TerminalModes& modes, LineHistory& history, bool colour, TabCompleter completer, Console console)
    : modes_(modes),
      history_(history),
      keys_(STDIN_FILENO, wake_descriptor()),
      editor_(keys_, history_, colour, std::move(completer)),
      console_(std::move(console)) {}

EditedLine EditorSource::next(const std::string& text) {
  modes_.take_keys();
  EditedLine line = editor_.read(text);
  modes_.leave_signals();
  // Typed right behind Enter, it is meant for the answer.
  if (line.end == LineEnd::line && keys_.take_ctrl_c()) ::raise(SIGINT);
  return line;
}

void EditorSource::remember(const std::string& text) {
  history_.add(text);
  if (!keeps_history_) return;
  try {
    history_.save();
  } catch (const Error& error) {
    keeps_history_ = false;  // said once
    console_.warning(fmt::format("the history is not kept: {}", error.what()));
  }
}

void LineSource::discard() {
  if (!typed_) return;
  bytes_.clear();
  ::tcflush(STDIN_FILENO, TCIFLUSH);
}

/// @param ended  the input has: what is left is a line too
bool LineSource::take_line(std::string& line, bool ended) {
  while (true) {
    const size_t end = bytes_.find('\n');
    if (end == std::string::npos && (!ended || bytes_.empty())) return ended && !line.empty();
    std::string part = bytes_.substr(0, end);
    bytes_.erase(0, end == std::string::npos ? end : end + 1);
    if (part.ends_with('\r')) part.pop_back();
    const size_t last = part.find_last_not_of('\\');
    const bool goes_on = (part.size() - (last == std::string::npos ? 0 : last + 1)) % 2 == 1;
    if (goes_on) part.back() = '\n';
    line += part;
    if (!goes_on) return true;
  }
}

EditedLine LineSource::next(const std::string& /*text*/) {
  if (!prompt_.empty()) write_error(prompt_);
  std::string line;
  bool ended = false;
  std::array<char, 1 << 16> buffer;
  while (!take_line(line, ended)) {
    if (ended) {
      if (!prompt_.empty()) write_error("\n");
      return {.end = LineEnd::leave, .text = {}};
    }
    std::array<pollfd, 2> polls = {{{STDIN_FILENO, POLLIN, 0}, {wake_descriptor(), POLLIN, 0}}};
    if (::poll(polls.data(), polls.size(), -1) < 0 && errno != EINTR)
      fail(ErrorKind::io, "standard input cannot be waited for: {}", std::generic_category().message(errno));
    if ((polls[1].revents & POLLIN) != 0) {
      const SignalNews news = take_news();
      if (news.leaving) return {.end = LineEnd::signal, .text = {}};
      if (!news.interrupted) continue;
      if (!typed_ || std::exchange(interrupted_, true)) return {.end = typed_ ? LineEnd::leave : LineEnd::interrupt, .text = {}};
      line.clear();
      write_error("\n" + prompt_);
      continue;
    }
    if ((polls[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0 && errno == EIO && typed_) return {.end = LineEnd::hang_up, .text = {}};
    if (got < 0) fail(ErrorKind::io, "standard input cannot be read: {}", std::generic_category().message(errno));
    ended = got == 0;
    bytes_.append(buffer.data(), static_cast<size_t>(got));
    interrupted_ = false;
    if (bytes_.size() + line.size() > input_limit)
      fail(ErrorKind::invalid, "standard input: a line of more than {}; give less", format_bytes(input_limit));
  }
  return {.end = LineEnd::line, .text = std::move(line)};
}

}  // namespace lagoon
