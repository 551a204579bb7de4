#include "commands/interrupt.h"

#include "base/error.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <system_error>

namespace lagoon {
namespace {

constexpr int watched[] = {SIGINT, SIGTERM, SIGHUP};
// Written by handlers, read by every thread that computes.
using Flag = std::atomic<int>;
static_assert(Flag::is_always_lock_free);
Flag interrupted = 0;
Flag ending = 0;  // the signal that ends the program
Flag resumed = 0;
Flag resized = 0;
bool held = false;
bool hurries = false;  // the program may be left where it stands
int wake[2] = {-1, -1};
TerminalHooks terminal;

void remember(int signal) {
  if (signal == SIGINT) {
    interrupted = 1;
  } else if (ending == 0) {
    ending = signal;
  }
}

/// Work that does not ask in time is left where it stands.
void leave_soon() {
  const struct itimerval soon = {.it_interval = {0, 0}, .it_value = {0, 700000}};
  ::setitimer(ITIMER_REAL, &soon, nullptr);
}

/// Whichever comes second ends the program at once.
void remember_once(int signal) {
  if (hurries) leave_soon();
  remember(signal);
  for (const int other : watched) std::signal(other, SIG_DFL);
}

int received() { return ending != 0 ? ending.load() : interrupted != 0 ? SIGINT : 0; }

void wake_up() {
  const char byte = 0;
  [[maybe_unused]] const ssize_t put = ::write(wake[1], &byte, 1);  // a full pipe wakes as well
}

const char* name_of_signal(int signal) {
  if (signal == SIGTERM) return "SIGTERM";
  if (signal == SIGHUP) return "SIGHUP";
  return signal == SIGQUIT ? "SIGQUIT" : "Ctrl-C";
}

void say(std::string_view text) { [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, text.data(), text.size()); }

void leave_now(int) {
  if (terminal.restore) terminal.restore();
  if (hurries) {
    // Over the line that shows progress.
    if (::isatty(STDERR_FILENO) == 1) say("\r\x1b[K");
    say("lagoon: stopped by ");
    say(name_of_signal(received()));
    say("\n");
  }
  ::_exit(128 + received());
}

void hold(int signal) {
  const int error = errno;
  if (signal == SIGWINCH) {
    resized = 1;
  } else if (signal == SIGCONT) {
    if (terminal.resume) terminal.resume();
    resumed = 1;
  } else {
    if (signal != SIGINT && ending == 0) leave_soon();
    remember(signal);
  }
  wake_up();
  errno = error;
}

/// Stops as the terminal's driver would have it, with the terminal as it was found.
void stop(int) {
  const int error = errno;
  if (terminal.restore) terminal.restore();
  struct sigaction usual = {};
  struct sigaction own = {};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &usual, &own);
  sigset_t only;
  sigset_t before;
  sigemptyset(&only);
  sigaddset(&only, SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &only, &before);
  ::raise(SIGTSTP);  // in a process group that no shell looks after, nothing happens
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  sigaction(SIGTSTP, &own, nullptr);
  if (terminal.resume) terminal.resume();
  resumed = 1;
  wake_up();
  errno = error;
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void watch_interrupts() {
  if (held) return;
  for (const int signal : watched) {
    if (!is_ignored(signal)) handle(signal, remember_once, 0);  // as nohup and a shell's background jobs ask
  }
}

void leave_in_time() {
  if (held) return;
  watch_interrupts();
  handle(SIGALRM, leave_now, 0);
  hurries = true;
}

void check_interrupt() {
  if (received() != 0) fail(ErrorKind::cancelled, "{}", stopped_by(interrupt_exit_code()));
}

std::string stopped_by(int exit_code) { return std::string("stopped by ") + name_of_signal(exit_code - 128); }

int interrupt_exit_code() { return received() == 0 ? 0 : 128 + received(); }

void hold_interrupts(TerminalHooks hooks) {
  if (!held && ::pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0) fail(ErrorKind::io, "a pipe could not be had: {}", std::generic_category().message(errno));
  held = true;
  terminal = hooks;
  // Writes that a full terminal holds up go on after a signal; whoever waits for keys is woken by the pipe.
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGWINCH, SIGCONT}) handle(signal, hold, SA_RESTART);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, hold, SA_RESTART);  // nohup
  if (!is_ignored(SIGTSTP)) handle(SIGTSTP, stop, SA_RESTART);
  handle(SIGALRM, leave_now, 0);
  // Where nobody sees the terminal any more, it is given back all the same; a pipe that nobody reads ends the program as it ends other filters.
  if (hooks.restore) handle(SIGPIPE, SIG_IGN, 0);
}

int wake_descriptor() { return wake[0]; }

SignalNews take_news() {
  char bytes[64];
  while (::read(wake[0], bytes, sizeof bytes) > 0) continue;
  SignalNews news;
  news.leaving = ending != 0;
  news.interrupted = interrupted != 0;
  interrupted = 0;
  news.resumed = resumed != 0;
  resumed = 0;
  news.resized = resized != 0;
  resized = 0;
  return news;
}

}  // namespace lagoon
