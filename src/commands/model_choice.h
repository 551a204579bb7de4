// model_choice.h: what MODEL may be where headers suffice: beside the checkpoints of this machine also what is known without a
// download.
#pragma once

#include "checkpoint/artifact.h"
#include "checkpoint/checkpoint.h"
#include "commands/environment.h"

#include <cstdint>
#include <optional>
#include <string>

namespace lagoon {

struct ChosenModel {
  std::string name;  // as it is to be shown
  std::string kind;  // "checkpoint"; "synthetic": a SPEC as `bench --synthetic` takes; "artifact": a known quantization that is not
                     // here; "published": an id of data/models, in BF16; "described": a config.json with formats
  Checkpoint checkpoint;
  std::optional<Artifact> artifact;
  uint64_t text_bytes = 0;  // of tokenizer.json and template, as files; 0: it has none
};

/// A checkpoint of this machine, a known artifact by its short name or repository, an id of data/models, or a SPEC.
/// @throws Error as Checkpoint::open and parse_synthetic_spec; Error(unsupported) for an artifact whose formats are not known or not run
ChosenModel choose_model(const std::string& model, const Environment& environment);

/// What has weights to compute with: a checkpoint of this machine or a SPEC. @throws as choose_model
Checkpoint open_weights(const std::string& model, const Environment& environment);

/// A config.json with `quantization`: bf16, BITS/GROUP, the name of an artifact whose map it has, or a JSON file with a "quantization" block.
/// @throws Error naming the file or the flag
ChosenModel describe_model(const std::string& config, const std::string& quantization, const Environment& environment);

/// Known artifacts, those of the user's folder among them.
std::vector<Artifact> artifacts_of(const Environment& environment);

/// The artifact as a checkpoint of headers alone. @throws Error(unsupported) where its formats are not known or not run
Checkpoint open_artifact(const Artifact& artifact);

/// Files of a checkpoint's tokenizer and template, in bytes; 0 where there are none.
uint64_t text_bytes_of(const std::filesystem::path& folder);

}  // namespace lagoon
