// model_choice.h: what MODEL may be where headers suffice: beside the checkpoints of this machine also what is known without a
// download.
#pragma once

#include "base/json.h"
#include "checkpoint/artifact.h"
#include "checkpoint/checkpoint.h"
#include "commands/environment.h"

#include <cstdint>
#include <optional>
#include <string>

namespace lagoon {

struct ChosenModel {
  std::string name;  // as it is to be shown: with what a short name or an alias stands for
  std::string kind;  // "checkpoint"; "synthetic": a SPEC as `bench --synthetic` takes; "artifact": a known quantization that is not
                     // here; "published": an id of data/models, in BF16; "described": a config.json with formats
  Checkpoint checkpoint;
  std::optional<Artifact> artifact;
  uint64_t text_bytes = 0;                       // of tokenizer.json and template, as files; 0: it has none
  bool formats_known = true;                     // false: the checkpoint stands for the shape alone, its formats are not the artifact's
  std::string headers_place = "tensor headers";  // where counts come from
};

/// What a command looks at: artifacts in formats that Lagoon does not run have a shape all the same.
enum class ModelNeed { formats, shape };

/// In this order: a checkpoint of this machine by its exact name; a SPEC; a known artifact or an id of data/models by its exact name; a
/// checkpoint of this machine by a part of its name; an alias of what is not here; what is known by a part of its name.
/// @throws Error as Checkpoint::open and parse_synthetic_spec; Error(invalid) with the nearest name where nothing fits or several do;
/// Error(unsupported) for an artifact whose formats are needed and not known or not run
ChosenModel choose_model(const std::string& model, const Environment& environment, ModelNeed need = ModelNeed::formats);

/// Where a checkpoint was found: {"name", "found_in", "revision", "alias", "model_type", "config_says"}; null for what is not on this machine.
Json location_json(const Checkpoint& checkpoint);

/// "al = org/name@1111e85e, ..." for a model that an alias stands for, with what config.json says otherwise; else empty.
std::string location_note(const Checkpoint& checkpoint);

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
