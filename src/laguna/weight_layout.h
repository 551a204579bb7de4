// weight_layout.h: where each matrix of a checkpoint will lie in memory. Computed from the header alone.
#pragma once

#include "laguna/weights.h"

#include <vector>

namespace lagoon {

/// A matrix and its place: tile t lies at offset + t * tile_stride of its block.
struct WeightPlace {
  const WeightSource* source = nullptr;
  WeightMatrix* target = nullptr;
  size_t offset = 0;
  int64_t tile_stride = 0;
};

/// Matrices that are allocated together.
struct WeightBlock {
  const char* name = nullptr;  // of its line in the ledger
  size_t bytes = 0;
  std::vector<WeightPlace> places;
};

/// @param weights  the targets of the places; its layers are made here
std::vector<WeightBlock> lay_out_weights(const Checkpoint& checkpoint, ModelWeights& weights);

}  // namespace lagoon
