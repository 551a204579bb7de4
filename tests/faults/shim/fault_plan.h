// fault_plan.h: what of the shim is no function of the C library: the plan that the environment gives, the counting, and the report.
#pragma once

#include <cstdint>

namespace fault_shim {

struct Fault {
  enum class Kind { none, error, one_byte };
  Kind kind = Kind::none;
  int error = 0;
};

/// Counts an operation and says how it goes wrong. Signals are sent, and processes forked, in here. @param descriptor  -1: of no file
Fault fault_of(const char* operation, int descriptor);

/// From which on an allocation counts.
uint64_t least_bytes();

/// Bytes of blocks of 1 MiB and more: given out, or taken back if negative.
void add_live(int64_t bytes);

}  // namespace fault_shim
