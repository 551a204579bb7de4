// output.h: standard output and standard error. A full disk or a closed descriptor on standard output is an error, never
// silence.
#pragma once

#include "commands/progress.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace lagoon {

/// Appends to standard output's buffer. @throws Error(io)
void write_output(std::string_view text);

/// Makes what was written visible now: after each streamed piece. @throws Error(io)
void flush_output();

/// Flushes; called once at the end of every subcommand. @throws Error(io)
void finish_output();

/// Whether a write has failed: whoever goes on after other errors must not go on after that one.
bool output_failed();

/// What was not written yet is forgotten, and failures with it: where the reader is gone and the program ends for that reason.
void abandon_output();

/// Standard error, at once; failures are ignored, there is nowhere left to tell.
void write_error(std::string_view text);

/// All of standard input. @throws Error(io), Error(invalid) beyond `limit` bytes
std::string read_input(uint64_t limit);

}  // namespace lagoon
