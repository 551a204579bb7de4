// program.h: the program as a function of its arguments.
#pragma once

namespace lagoon {

/// The whole program: parses, runs one subcommand, prints an error as one sentence on standard error.
/// @return the exit code: 0, 2 for bad usage or input, 1 for a failure, 130 if interrupted
int run_program(int count, char** arguments);

}  // namespace lagoon
