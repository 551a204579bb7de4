// environment.h: everything that Lagoon takes from environment variables and from where the program stands. The one place
// that reads them.
#pragma once

#include "checkpoint/checkpoint.h"

namespace lagoon {

struct Environment {
  std::string command_line;  // as it was typed, without the program's path
  CheckpointPlaces places;
  bool output_is_terminal = false;  // standard output
  bool colour = false;              // it shows styles: NO_COLOR and TERM=dumb say no
  bool error_is_terminal = false;   // progress is shown on standard error
};

Environment read_environment();

}  // namespace lagoon
