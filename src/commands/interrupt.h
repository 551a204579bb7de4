// interrupt.h: Ctrl-C, SIGTERM and SIGHUP as a question that work asks between its pieces.
#pragma once

namespace lagoon {

/// From here on SIGINT, SIGTERM and SIGHUP set a flag, unless they are ignored; a second one, whichever it is, ends the program at once.
void watch_interrupts();

/// @throws Error(cancelled) once a signal has come
void check_interrupt();

/// 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP, 0 if none came.
int interrupt_exit_code();

}  // namespace lagoon
