// program.h: the program as a function of its arguments.
#pragma once

#include <cstdint>

namespace lagoon {

/// Of the main thread: what nested templates and documents take before they are refused as too deep.
constexpr uint64_t least_stack_bytes = 4 << 20;

/// The whole program: parses, runs one subcommand, prints an error as one sentence on standard error.
/// @return the exit code: 0, 2 for bad usage or input, 1 for a failure, 130 if interrupted
int run_program(int count, char** arguments);

}  // namespace lagoon
