#include "commands/interrupt.h"

#include "base/error.h"

#include <csignal>

namespace lagoon {
namespace {

constexpr int watched[] = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t received = 0;

/// Whichever comes second ends the program at once.
void remember(int signal) {
  received = signal;
  for (const int other : watched) std::signal(other, SIG_DFL);
}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = remember;
  for (const int signal : watched) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // as nohup and a shell's background jobs ask
  }
}

void check_interrupt() {
  if (received != 0) fail(ErrorKind::cancelled, "stopped by {}", received == SIGTERM ? "SIGTERM" : received == SIGHUP ? "SIGHUP" : "Ctrl-C");
}

int interrupt_exit_code() { return received == 0 ? 0 : 128 + received; }

}  // namespace lagoon
