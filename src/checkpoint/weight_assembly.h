// weight_assembly.h: from tensors in files to the matrices of the architecture. Each matrix is looked for in every spelling;
// shapes are checked against config.json, formats told from shapes and checked against the quantization block; what is left
// over must be ignorable. All faults are gathered and told in one sentence for each kind.
#pragma once

#include "checkpoint/checkpoint.h"
#include "checkpoint/quantization_config.h"
#include "checkpoint/weight_files.h"

#include <string>
#include <vector>

namespace lagoon {

struct AssembledWeights {
  WeightSource embedding, final_norm, head;
  std::vector<LayerSource> layers;
  std::vector<GateKind> gates;  // [layers], from the rows of g_proj
  uint64_t bytes = 0;           // of all weights
};

/// @param where  the folder, which begins the sentence
/// @throws Error(corrupt) for tensors that are missing, doubly present, wrongly shaped or contradict config.json;
/// Error(unsupported) for tensors of no Laguna model and for layers that config.json does not count
AssembledWeights assemble_weights(const ModelConfig& config, const QuantizationConfig& quantization, const WeightFiles& weights,
                                  const std::string& where);

}  // namespace lagoon
