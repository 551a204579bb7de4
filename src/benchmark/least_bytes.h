// least_bytes.h: what a token costs at least, known from a checkpoint's header alone.
#pragma once

#include "checkpoint/checkpoint.h"

#include <cstdint>

namespace lagoon {

/// Bytes of weights that one decode step of one sequence reads, as they lie in memory: everything but the experts that are not
/// chosen and the rows of the embedding that are not looked up. Keys and values come on top.
uint64_t weight_bytes_of_a_token(const Checkpoint& checkpoint);

}  // namespace lagoon
