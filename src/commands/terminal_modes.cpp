#include "commands/terminal_modes.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

namespace lagoon {
namespace {

// What a signal handler needs to give the terminal back.
struct termios found;
struct termios wanted;
volatile std::sig_atomic_t ours = 0;
volatile std::sig_atomic_t may_be_styled = 0;

constexpr std::string_view mark_pastes = "\x1b[?2004h";
constexpr std::string_view leave_pastes = "\x1b[?2004l";
constexpr std::string_view plain = "\x1b[0m";

/// Out of a background process the terminal is not to be touched: it would be stopped, and the terminal is another's.
bool in_foreground() { return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

/// Where nobody reads what the terminal shows, the text is left out: who leaves does not wait for long.
void put(std::string_view text) {
  constexpr int patience_ms = 100;
  pollfd output = {STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&output, 1, patience_ms) != 1 || (output.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const ssize_t done = ::write(STDOUT_FILENO, text.data(), text.size());
}

void restore() {
  if (ours == 0 || !in_foreground()) return;
  // Ctrl-S may hold up the output: only what was switched off is switched on.
  ::tcflow(STDOUT_FILENO, TCOOFF);
  ::tcflow(STDOUT_FILENO, TCOON);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &found);
  if (may_be_styled != 0) put(plain);
  put(leave_pastes);
}

void resume() {
  if (ours == 0 || !in_foreground()) return;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &wanted);
  put(mark_pastes);
}

}  // namespace

TerminalSize terminal_size() {
  struct winsize size = {};
  TerminalSize out;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return out;
  if (size.ws_row > 0) out.rows = size.ws_row;
  if (size.ws_col > 0) out.columns = size.ws_col;
  return out;
}

TerminalModes::TerminalModes(bool styled) {
  if (::tcgetattr(STDIN_FILENO, &found) != 0) return;
  wanted = found;
  wanted.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  wanted.c_lflag |= ISIG;
  wanted.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR | ISTRIP);
  wanted.c_oflag |= OPOST | ONLCR;
  wanted.c_cc[VMIN] = 1;
  wanted.c_cc[VTIME] = 0;
  may_be_styled = styled ? 1 : 0;
  ours = 1;
  resume();
}

TerminalModes::~TerminalModes() {
  restore();
  ours = 0;
}

void TerminalModes::take_keys() {
  wanted.c_lflag &= ~static_cast<tcflag_t>(ISIG);
  wanted.c_iflag &= ~static_cast<tcflag_t>(IXON);  // Ctrl-S searches
  if (in_foreground()) ::tcsetattr(STDIN_FILENO, TCSANOW, &wanted);
}

void TerminalModes::leave_signals() {
  wanted.c_lflag |= ISIG;
  wanted.c_iflag |= found.c_iflag & IXON;
  if (in_foreground()) ::tcsetattr(STDIN_FILENO, TCSANOW, &wanted);
}

TerminalHooks TerminalModes::hooks() { return {.restore = restore, .resume = resume}; }

}  // namespace lagoon
