#include "commands/interrupt.h"

#include "base/error.h"

#include <csignal>

namespace lagoon {
namespace {

volatile std::sig_atomic_t received = 0;

void remember(int signal) { received = signal; }

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void check_interrupt() {
  if (received != 0) fail(ErrorKind::cancelled, "stopped by {}", received == SIGTERM ? "SIGTERM" : "Ctrl-C");
}

int interrupt_exit_code() { return received == 0 ? 0 : 128 + received; }

}  // namespace lagoon
