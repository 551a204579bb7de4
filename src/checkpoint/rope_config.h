// rope_config.h: the rotary settings of config.json, which are published in three forms:
//   nested   "rope_parameters": {"full_attention": {...}, "sliding_attention": {...}}, perhaps with loose scalars beside the two,
//            which hold for a kind that lacks them; a kind that layers have must be there
//   flat     "rope_parameters" or "rope_scaling": {"rope_type": "yarn", ...} with "rope_theta" and "partial_rotary_factor" beside
//            it: said of the full layers
//   absent   transformers' class defaults
// Keys of YaRN stand beside the type `yarn` only: what is left of one whose type got lost would be the plain rope, and other answers.
// "swa_rope_parameters" says the sliding rope and wins over all of these; a sliding rope that nothing says is the class default.
#pragma once

#include "checkpoint/config_reader.h"
#include "checkpoint/model_config.h"

#include <span>

namespace lagoon {

struct RopeConfigs {
  RotaryConfig full;
  RotaryConfig sliding;
  std::vector<std::string> assumptions;  // a sentence for each default that was taken for a rope that layers have
};

/// @param config  config.json (its text_config, where there is one)
/// @param layers  which kinds of attention there are
/// @throws Error(corrupt) for wrong types, ranges and contradictions; Error(unsupported) for other kinds of rope and for a key
/// in a rope object that Lagoon does not know, since passing over it would change the angles
RopeConfigs read_rope_configs(const ConfigReader& config, int head_dim, std::span<const LayerConfig> layers);

}  // namespace lagoon
