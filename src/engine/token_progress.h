// token_progress.h: how far a text is read, in tokens.
#pragma once

#include "laguna/model.h"

#include <cstdint>
#include <functional>

namespace lagoon {

/// Called before each step, and in a step before each layer, which counts for its share of the tokens; throwing stops there.
/// @param done, total  tokens
using TokenProgress = std::function<void(int64_t done, int64_t total)>;

/// The layers of a step of `rows` tokens that begins after `done`. Empty if `progress` is, which must outlive it.
inline LayerProgress within_step(const TokenProgress& progress, int64_t done, int64_t rows, int64_t total) {
  if (!progress) return {};
  return [&progress, done, rows, total](int layer, int layers) { progress(done + rows * layer / layers, total); };
}

}  // namespace lagoon
