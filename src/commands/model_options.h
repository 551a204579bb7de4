// model_options.h: options of every command that takes a MODEL, beside the model itself.
#pragma once

#include "checkpoint/checkpoint.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace lagoon {

/// Adds --models-dir DIR, which may be repeated.
void add_models_dir(CLI::App& parser, std::vector<std::string>& directories);

/// Puts the directories of the command line before those of the config file, each folder once. @throws Error(invalid) for one that is no
/// folder
void use_models_dirs(const std::vector<std::string>& directories, CheckpointPlaces& places);

/// Takes the options by which other programs ask for speculative decoding (--mtp, --speculative, --draft-model, ...) and refuses them with
/// the reason, Error(unsupported): no such head of Laguna is published.
void refuse_speculation(CLI::App& parser);

/// What the MODEL of a help text is.
constexpr const char* model_help = "folder, nano, or a name that `lagoon models` lists (its beginning is enough; @REVISION may follow)";

}  // namespace lagoon
