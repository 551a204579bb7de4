// interrupt.h: signals as questions that work asks between its pieces.
#pragma once

#include <string>

namespace lagoon {

/// From here on SIGINT, SIGTERM and SIGHUP set a flag, unless they are ignored; a second one, whichever it is, ends the program at once.
void watch_interrupts();

/// As watch_interrupts(), and such a signal ends the program within a second even where no work asks: for work that leaves nothing half done
/// behind.
void leave_in_time();

/// @throws Error(cancelled) once a signal has come
void check_interrupt();

/// "stopped by SIGTERM" for 143, and so on.
std::string stopped_by(int exit_code);

/// 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP, 0 if none came.
int interrupt_exit_code();

// For a program that goes on after Ctrl-C, and has changed its terminal.

/// What a signal does to the terminal, in the handler itself: only calls that are safe there.
struct TerminalHooks {
  void (*restore)() = nullptr;  // before the program stops or ends
  void (*resume)() = nullptr;   // when it goes on
};

/// As watch_interrupts(), which then changes nothing any more, with these differences: any number of SIGINT may come; SIGHUP and
/// SIGQUIT count as SIGTERM does; after these the program ends within a second, even where no work asks; SIGTSTP stops it with its terminal
/// restored; news wakes who waits at wake_descriptor(). With hooks, SIGPIPE is an error of the write.
/// @throws Error(io) where the system refuses
void hold_interrupts(TerminalHooks hooks);

/// A descriptor that is readable when a signal came; take_news() empties it.
int wake_descriptor();

struct SignalNews {
  bool interrupted = false;  // SIGINT: taken back by the call
  bool leaving = false;      // SIGTERM, SIGHUP or SIGQUIT: stays
  bool resumed = false;      // was stopped and goes on
  bool resized = false;      // the window is another
};

/// What came since the last call.
SignalNews take_news();

}  // namespace lagoon
