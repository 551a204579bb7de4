// interrupt.h: Ctrl-C and SIGTERM as a question that work asks between its pieces.
#pragma once

namespace lagoon {

/// From here on SIGINT and SIGTERM set a flag; a second one ends the program at once.
void watch_interrupts();

/// @throws Error(cancelled) once a signal has come
void check_interrupt();

/// 130 for SIGINT, 143 for SIGTERM, 0 if none came.
int interrupt_exit_code();

}  // namespace lagoon
