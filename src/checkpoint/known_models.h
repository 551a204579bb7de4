// known_models.h: the names of models in the Hugging Face cache and in models directories, read from the names of folders and files.
#pragma once

#include "checkpoint/hugging_face_cache.h"
#include "checkpoint/model_catalog.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

struct KnownModel {
  std::string name;                          // ORG/NAME or NAME
  std::filesystem::path place;               // the cache or the models directory
  std::optional<RepositoryName> repository;  // of a cache
  std::filesystem::path folder;              // of a models directory; of a cache empty
  std::string problem;                       // of a models directory: why the folder cannot be looked into
};

/// Those of the cache first, then directory by directory, each sorted by name; also folders that cannot be looked into.
/// @param problem  is told each place that cannot be listed, and why; may be empty
std::vector<KnownModel> known_models(const CheckpointPlaces& places,
                                     const std::function<void(const std::filesystem::path& place, const std::string& why)>& problem = {});

/// Where the model is. @param revision  of a repository; nullopt: the main one's
/// @throws Error(invalid) if it has no such revision, Error(corrupt) for a damaged cache, Error(io) if it cannot be looked into
ModelLocation location_of(const KnownModel& model, const std::optional<std::string>& revision);

/// What stands behind the last slash.
std::string_view without_organisation(std::string_view name);

/// ASCII letters made small.
std::string lower_case(std::string_view text);

/// Whether `typed` is the whole name, in any case and also without organisation.
bool is_whole_name(std::string_view name, std::string_view typed);

/// Whether the folder looks like a model's: config.json, or weights of any kind.
bool is_model_folder(const std::filesystem::path& folder);

}  // namespace lagoon
