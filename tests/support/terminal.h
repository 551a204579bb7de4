// terminal.h: a program on a pseudo-terminal, with a screen that a test can read: cells, cursor, modes.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>
#include <vterm.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon::testing_support {

struct TerminalSetup {
  int rows = 24;
  int columns = 80;
  std::vector<std::string> environment;  // "NAME=value", added; "NAME" is taken away
  int output = -1;                       // standard output goes to this descriptor instead of the terminal
};

class Terminal {
 public:
  using Seconds = std::chrono::seconds;
  static constexpr Seconds patience{60};  // a deadline, not an expectation

  /// Starts a program: standard input, output and error are the terminal. @param words  its path or name, then its arguments
  explicit Terminal(const std::vector<std::string>& words, const TerminalSetup& setup = {}) {
    struct winsize size = {};
    size.ws_row = static_cast<unsigned short>(setup.rows);
    size.ws_col = static_cast<unsigned short>(setup.columns);
    if (openpty(&master_, &slave_, nullptr, nullptr, &size) != 0) throw std::runtime_error("no pseudo-terminal");
    fcntl(master_, F_SETFD, FD_CLOEXEC);
    fcntl(slave_, F_SETFD, FD_CLOEXEC);
    tcgetattr(slave_, &before_);
    screen_ = vterm_new(setup.rows, setup.columns);
    vterm_set_utf8(screen_, 1);
    vterm_screen_reset(vterm_obtain_screen(screen_), 1);
    child_ = fork();
    if (child_ < 0) throw std::runtime_error("no process");
    if (child_ == 0) run_child(words, setup);
    exit_watch_ = static_cast<int>(syscall(SYS_pidfd_open, child_, 0));
  }
  ~Terminal() {
    if (exit_code_ < 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    for (const int descriptor : {master_, slave_, exit_watch_}) {
      if (descriptor >= 0) close(descriptor);
    }
    vterm_free(screen_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Keys as a person's terminal sends them. The program reads while they are sent.
  void type(std::string_view bytes) {
    fcntl(master_, F_SETFL, O_NONBLOCK);
    const auto deadline = Clock::now() + patience;
    while (!bytes.empty()) {
      std::array<pollfd, 2> polls = {{{master_, POLLIN | POLLOUT, 0}, {exit_watch_, POLLIN, 0}}};
      poll(polls.data(), polls.size(), 1000);
      if ((polls[0].revents & POLLIN) != 0) read_output();
      if ((polls[0].revents & POLLOUT) != 0) {
        const ssize_t put = write(master_, bytes.data(), std::min<size_t>(bytes.size(), 1024));
        if (put > 0) bytes.remove_prefix(static_cast<size_t>(put));
      }
      if (Clock::now() > deadline || (polls[1].revents & POLLIN) != 0) return;
    }
  }

  /// Reads until the condition holds; false at the deadline or when the program has ended without it.
  bool wait_until(const std::function<bool()>& holds) {
    const auto deadline = Clock::now() + patience;
    while (!holds()) {
      std::array<pollfd, 2> polls = {{{master_, POLLIN, 0}, {exit_watch_, POLLIN, 0}}};
      poll(polls.data(), polls.size(), 1000);
      if ((polls[0].revents & POLLIN) != 0) {
        read_output();
      } else if ((polls[1].revents & POLLIN) != 0) {
        return holds();
      }
      if (Clock::now() > deadline) return false;
    }
    return true;
  }

  bool wait_for(std::string_view text) {
    return wait_until([&] { return screen().find(text) != std::string::npos; });
  }

  /// In the bytes that came since the last mark().
  bool wait_for_output(std::string_view text) {
    return wait_until([&] { return output_.find(text, mark_) != std::string::npos; });
  }
  void mark() { mark_ = output_.size(); }

  /// An empty line waits for a message.
  bool wait_for_prompt() {
    return wait_until([&] { return cursor_column() == 2 && row(cursor_row()) == ">"; });
  }

  /// The rows that are not blank, without blanks at their ends, each with a newline.
  std::string screen() const {
    std::string text;
    int rows = 0;
    int columns = 0;
    vterm_get_size(screen_, &rows, &columns);
    for (int at = 0; at < rows; ++at) {
      const std::string line = row(at);
      if (!line.empty()) text += line + "\n";
    }
    return text;
  }

  std::string row(int at) const {
    int rows = 0;
    int columns = 0;
    vterm_get_size(screen_, &rows, &columns);
    std::string text;
    for (int column = 0; column < columns; ++column) {
      VTermScreenCell cell;
      vterm_screen_get_cell(vterm_obtain_screen(screen_), {.row = at, .col = column}, &cell);
      if (cell.chars[0] == static_cast<uint32_t>(-1)) continue;  // the second half of a wide character
      if (cell.chars[0] == 0) text += ' ';
      for (int part = 0; part < VTERM_MAX_CHARS_PER_CELL && cell.chars[part] != 0; ++part) append_utf8_code(text, cell.chars[part]);
    }
    const size_t last = text.find_last_not_of(' ');
    return last == std::string::npos ? "" : text.substr(0, last + 1);
  }

  int cursor_row() const { return cursor().row; }
  int cursor_column() const { return cursor().col; }

  void resize(int rows, int columns) {
    struct winsize size = {};
    size.ws_row = static_cast<unsigned short>(rows);
    size.ws_col = static_cast<unsigned short>(columns);
    vterm_set_size(screen_, rows, columns);
    ioctl(master_, TIOCSWINSZ, &size);
  }

  void send_signal(int signal) { kill(child_, signal); }

  /// Closes the terminal's window.
  void hang_up() {
    close(master_);
    master_ = -1;
  }

  /// Waits for the end; 128 + signal if one ended it, -1 at the deadline.
  int exit_code() {
    if (exit_code_ >= 0) return exit_code_;
    if (master_ >= 0) {
      wait_until([] { return false; });
    } else {
      pollfd ended = {exit_watch_, POLLIN, 0};
      poll(&ended, 1, static_cast<int>(patience.count()) * 1000);
    }
    int status = 0;
    if (waitpid(child_, &status, WNOHANG) != child_) return -1;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return exit_code_;
  }

  /// Whether the program is stopped, as by Ctrl-Z.
  bool wait_for_stop() {
    int status = 0;
    return waitpid(child_, &status, WUNTRACED) == child_ && WIFSTOPPED(status);
  }

  /// All bytes that the program wrote.
  const std::string& output() const { return output_; }

  /// The terminal is as it was before the program: its modes, and pastes without marks.
  bool is_restored() const {
    struct termios now = {};
    tcgetattr(slave_, &now);
    const bool same = now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag && now.c_lflag == before_.c_lflag;
    return same && !marks_pastes();
  }

  bool marks_pastes() const {
    const size_t on = output_.rfind("\x1b[?2004h");
    const size_t off = output_.rfind("\x1b[?2004l");
    return on != std::string::npos && (off == std::string::npos || off < on);
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[noreturn]] void run_child(const std::vector<std::string>& words, const TerminalSetup& setup) const {
    login_tty(slave_);
    if (setup.output >= 0) dup2(setup.output, STDOUT_FILENO);
    setenv("TERM", "xterm-256color", 1);
    for (const std::string& variable : setup.environment) {
      if (variable.find('=') == std::string::npos) {
        unsetenv(variable.c_str());
      } else {
        putenv(strdup(variable.c_str()));
      }
    }
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(strdup(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments.front(), arguments.data());
    _exit(127);
  }

  void read_output() {
    std::array<char, 1 << 14> buffer;
    const ssize_t got = read(master_, buffer.data(), buffer.size());
    if (got <= 0) return;
    output_.append(buffer.data(), static_cast<size_t>(got));
    vterm_input_write(screen_, buffer.data(), static_cast<size_t>(got));
  }

  VTermPos cursor() const {
    VTermPos place;
    vterm_state_get_cursorpos(vterm_obtain_state(screen_), &place);
    return place;
  }

  static void append_utf8_code(std::string& out, uint32_t code) {
    if (code < 0x80) {
      out += static_cast<char>(code);
      return;
    }
    if (code >= 0x10000) out += static_cast<char>(0xf0 | code >> 18);
    if (code >= 0x800) out += static_cast<char>(code >= 0x10000 ? 0x80 | (code >> 12 & 0x3f) : 0xe0 | code >> 12);
    out += static_cast<char>(code >= 0x800 ? 0x80 | (code >> 6 & 0x3f) : 0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  }

  int master_ = -1;
  int slave_ = -1;
  pid_t child_ = -1;
  int exit_watch_ = -1;
  int exit_code_ = -1;
  VTerm* screen_ = nullptr;
  struct termios before_ = {};
  std::string output_;
  size_t mark_ = 0;
};

}  // namespace lagoon::testing_support
