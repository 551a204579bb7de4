// synthetic_layout.h: the tensors of a synthetic checkpoint in the order of its files, with what their bytes are made of.
#pragma once

#include "checkpoint/format_map.h"
#include "checkpoint/model_config.h"
#include "checkpoint/safetensors_writer.h"
#include "checkpoint/synthetic_values.h"

#include <string>
#include <vector>

namespace lagoon {

struct SyntheticTensor {
  TensorDeclaration declaration;
  SyntheticValues values;
};

/// A matrix that has a format of its own in config.json.
struct FormatEntry {
  std::string module;  // as the files spell it
  AffineFormat format;
};

struct SyntheticLayout {
  std::vector<SyntheticTensor> tensors;
  std::vector<FormatEntry> entries;  // where it differs from FormatMap::everywhere()
  uint64_t parameters = 0;           // numbers of the unquantized model
};

/// Without quantization the names are those that Poolside publishes, with one tensor for each matrix of each expert; with it those of mlx-lm,
/// with the experts of a layer in one tensor.
/// @param config  its gates as config.json states them
SyntheticLayout layout_synthetic(const ModelConfig& config, const FormatMap& formats, uint64_t seed);

}  // namespace lagoon
