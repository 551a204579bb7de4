// config_assumptions.h: what config.json leaves open and is computed all the same, one sentence each: keys of weight that are missing
// (a default of transformers' LagunaConfig is taken), misspelled ones, and keys that ask for what no Laguna has. Sizes are not among
// them, since the tensors contradict a wrong one; nor is what published configs leave out.
#pragma once

#include "checkpoint/config_reader.h"
#include "checkpoint/model_config.h"

#include <string>
#include <vector>

namespace lagoon {

/// @param config  config.json (its text_config, where there is one); what it says of ropes is left to read_rope_configs()
/// @param model   what was read from it
std::vector<std::string> config_assumptions(const ConfigReader& config, const ModelConfig& model);

}  // namespace lagoon
