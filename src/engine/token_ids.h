// token_ids.h: whether ids that a person gave are those of the model.
#pragma once

#include <cstdint>
#include <span>

namespace lagoon {

/// @throws Error(invalid) for an id outside of the vocabulary
void check_token_ids(std::span<const int32_t> ids, int64_t vocabulary);

}  // namespace lagoon
