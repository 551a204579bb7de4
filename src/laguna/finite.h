// finite.h: a NaN or an infinity among the weights makes every answer NaN, or only those that come by it: it is found while they are read.
#pragma once

#include "kernels/weight_format.h"

#include <cstddef>
#include <cstdint>

namespace lagoon {

/// Index of the first NaN or infinity; `count` if there is none. The numbers need no alignment.
int64_t first_not_finite(const std::byte* numbers, ElementType type, int64_t count);

}  // namespace lagoon
