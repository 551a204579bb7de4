// model_catalog.h: which models this machine has, and which one a person means. Names alone are looked at, no weights are opened.
//   nano                  the model that ships with Lagoon
//   FOLDER                a folder that is there; absolute paths and ./ or ../ are nothing else
//   ALIAS                 of the config file; may pin a revision and say what the model_type is
//   ORG/NAME[@REVISION]   of the Hugging Face cache, else of a models directory
//   short names           of any of these but folders: NAME without organisation, in any case; else what one known name alone
//                         begins with; else what it alone holds from the beginning of a word on
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

/// A name of the user's own for a model.
struct ModelAlias {
  std::string name;
  std::string model;                      // what find_model() takes, other than an alias
  std::optional<std::string> revision;    // of a repository in the Hugging Face cache
  std::optional<std::string> model_type;  // counts instead of what config.json says
};

/// Where things are looked for; filled from the environment by commands/ (nothing else reads it).
struct CheckpointPlaces {
  std::filesystem::path hub_cache;                 // HF_HUB_CACHE, else HF_HOME/hub, else ~/.cache/huggingface/hub
  std::filesystem::path shipped_models;            // the folder that holds `nano`
  std::vector<std::filesystem::path> models_dirs;  // folders of model folders: NAME and ORG/NAME
  std::vector<ModelAlias> aliases;
};

struct ModelLocation {
  std::filesystem::path folder;
  std::string name;      // nano, ORG/NAME, or the folder's name; the path where another model has that name
  std::string found_in;  // "folder", "Hugging Face cache", "models directory" or "shipped"; empty for weights that stand in no folder
  std::string revision;  // the commit, of a snapshot of the Hugging Face cache
  std::optional<std::string> model_type;  // of the alias
  std::string alias;                      // by which it was found
  std::string problem;                    // of list_models() alone: why it cannot be opened; then `folder` may be empty
};

/// @throws Error: invalid if nothing or more than one thing has the name (the sentence says where it was looked for, and names the
/// candidates or the nearest known name), unsupported for a file in a foreign format, corrupt for a damaged cache, io
ModelLocation find_model(const std::string& model, const CheckpointPlaces& places);

/// Everything that can be named: nano, aliases, each repository of the cache (its main snapshot; all snapshots where there is no
/// main), and in each models directory every folder with config.json, .safetensors or .gguf files, up to two levels deep. What is
/// broken is in the list, with its problem. Sorted by name within each place.
std::vector<ModelLocation> list_models(const CheckpointPlaces& places);

/// The names among `names` that `typed` means: equal ones in any case (also without what stands before a slash), else those that
/// begin so, else those that hold it from the beginning of a word on. Each once, in their order.
std::vector<std::string> names_like(const std::vector<std::string>& names, const std::string& typed);

/// "al = org/name@1111e85e, model_type laguna": a location as tables show it.
std::string describe(const ModelLocation& location);

/// The number of changes (a letter more, less or other, or two neighbours swapped) between two names; case counts not.
size_t name_distance(const std::string& typed, const std::string& name);

/// The known name that is nearest to `typed`: at most a third of its length in changes. Aliases and nano are among them.
std::optional<std::string> nearest_model_name(const std::string& typed, const CheckpointPlaces& places);

}  // namespace lagoon
