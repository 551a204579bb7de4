// terminal_modes.h: the terminal at standard input and output while it is ours. Signal handlers know how to give it back.
#pragma once

#include "commands/interrupt.h"

namespace lagoon {

struct TerminalSize {
  int rows = 24;
  int columns = 80;
};

/// Of standard output; 24 by 80 where the terminal does not say. Asked anew at each call.
TerminalSize terminal_size();

/// While it lives, the terminal is as the program wants it; at its end, as it was found. One at a time.
class TerminalModes {
 public:
  /// Keys come one by one and unechoed, Ctrl-C is a signal; pastes are marked. @pre standard input and output are a terminal
  /// @param styled  what is written in between may have styles: the end switches them off
  explicit TerminalModes(bool styled);
  ~TerminalModes();
  TerminalModes(const TerminalModes&) = delete;
  TerminalModes& operator=(const TerminalModes&) = delete;

  /// All keys come as they are, Ctrl-C among them.
  void take_keys();

  /// Ctrl-C, Ctrl-Z and Ctrl-\ are signals.
  void leave_signals();

  /// For hold_interrupts().
  static TerminalHooks hooks();
};

}  // namespace lagoon
