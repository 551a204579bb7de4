// pseudo_terminal.h: a program behind a terminal of its own: what it draws, keys, signals and sizes.
#pragma once

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon::testing_support {

class PseudoTerminal {
 public:
  /// Starts a program: standard input, output and error are the terminal.
  /// @param words        the program's path, then its arguments
  /// @param environment  "NAME=value", added
  PseudoTerminal(const std::vector<std::string>& words, const std::vector<std::string>& environment = {}, uint16_t columns = 80, uint16_t rows = 24) {
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    child_ = forkpty(&descriptor_, nullptr, nullptr, &size);
    if (child_ < 0) throw std::runtime_error("no pseudo-terminal");
    if (child_ > 0) return;
    for (const std::string& variable : environment) putenv(strdup(variable.c_str()));
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(strdup(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments.front(), arguments.data());
    _exit(127);
  }
  ~PseudoTerminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(descriptor_);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  /// Everything that came so far.
  const std::string& output() const { return output_; }

  void type(std::string_view keys) const {
    while (!keys.empty()) {
      const ssize_t put = write(descriptor_, keys.data(), keys.size());
      if (put <= 0) return;
      keys.remove_prefix(static_cast<size_t>(put));
    }
  }

  void resize(uint16_t columns, uint16_t rows = 24) const {
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    ioctl(descriptor_, TIOCSWINSZ, &size);
  }

  /// Reads until the text stands behind byte `from` of the output. @return false if the program ended or the time is over first
  bool wait_for(std::string_view text, size_t from = 0, std::chrono::seconds most = std::chrono::seconds(120)) {
    return wait_until([&] { return output_.find(text, from) != std::string::npos; }, most);
  }

  /// As wait_for, for any question about the output.
  bool wait_until(const std::function<bool()>& done, std::chrono::seconds most = std::chrono::seconds(120)) {
    const auto deadline = std::chrono::steady_clock::now() + most;
    while (!done()) {
      if (std::chrono::steady_clock::now() >= deadline || !read_some()) return done();
    }
    return true;
  }

  /// Reads to the end of the program. @return its exit code, 128 + signal if one ended it
  int finish() {
    while (read_some()) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  /// False at the end.
  bool read_some() {
    pollfd question = {descriptor_, POLLIN, 0};
    if (poll(&question, 1, 1000) == 0) return true;
    char buffer[4096];
    const ssize_t got = read(descriptor_, buffer, sizeof buffer);
    if (got <= 0) return false;
    output_.append(buffer, static_cast<size_t>(got));
    return true;
  }

  int descriptor_ = -1;
  pid_t child_ = -1;
  std::string output_;
};

}  // namespace lagoon::testing_support
