#include "checkpoint/known_models.h"

#include "base/error.h"
#include "checkpoint/folder_access.h"
#include "machine/file.h"

#include <algorithm>
#include <system_error>

namespace lagoon {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// Sub-folders, links to folders among them and also what cannot be looked into, without hidden ones, sorted by name.
/// `error` says why the list is not whole.
std::vector<fs::path> folders_in(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> folders;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    if (at->path().filename().string().starts_with(".")) continue;
    if (is_folder(at->path()) || !why_closed(at->path()).empty()) folders.push_back(at->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// The name of a folder, also of "." and of "models/".
std::string name_of_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::absolute(folder, error).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

void add_cache(const fs::path& hub_cache, std::vector<KnownModel>& models) {
  for (RepositoryName& repository : list_hub_cache(hub_cache)) models.push_back({repository.id(), hub_cache, std::move(repository), {}, {}});
}

using Report = std::function<void(const fs::path& place, const std::string& why)>;

void report_unlisted(const fs::path& folder, const std::error_code& error, const Report& report) {
  if (error) report(folder, fmt::format("{}: the folder cannot be listed: {}", printable_path(folder), error.message()));
}

/// Whether the folder is a model, or cannot be looked into, so that it may be one.
bool add_folder(const std::string& name, const fs::path& directory, const fs::path& folder, std::vector<KnownModel>& models) {
  std::string problem = why_closed(folder);
  if (problem.empty() && !is_model_folder(folder)) return false;
  models.push_back({name, directory, std::nullopt, folder, std::move(problem)});
  return true;
}

void add_directory(const fs::path& directory, std::vector<KnownModel>& models, const Report& report) {
  std::error_code error;
  const std::vector<fs::path> folders = folders_in(directory, error);
  report_unlisted(directory, error, report);
  // A link of a model's own that leads nowhere is a missing file, of which opening the model tells.
  const bool is_model = is_model_folder(directory);
  if (fs::exists(directory / "config.json", error)) models.push_back({name_of_folder(directory), directory, std::nullopt, directory, {}});
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    if (name.starts_with("models--")) continue;  // a cache is read as one
    if (is_model && !is_folder(folder)) continue;
    if (add_folder(name, directory, folder, models)) continue;
    std::error_code inner_error;
    for (const fs::path& inner : folders_in(folder, inner_error)) add_folder(name + "/" + inner.filename().string(), directory, inner, models);
    report_unlisted(folder, inner_error, report);
  }
}

}  // namespace

std::vector<KnownModel> known_models(const CheckpointPlaces& places, const std::function<void(const fs::path&, const std::string&)>& problem) {
  std::vector<KnownModel> models;
  const auto report = [&](const fs::path& place, const std::string& why) {
    if (problem) problem(place, why);
  };
  const auto look_in_cache = [&](const fs::path& place) {
    try {
      add_cache(place, models);
    } catch (const Error& error) {
      report(place, error.what());
    }
  };
  look_in_cache(places.hub_cache);
  for (const fs::path& directory : places.models_dirs) {
    const bool is_cache = !places.hub_cache.empty() && same_folder(directory, places.hub_cache);  // read already
    if (const std::string why = why_closed(directory); !why.empty()) {
      if (!is_cache) report(directory, why);
      continue;
    }
    if (!is_folder(directory)) {
      report(directory, fmt::format("{}: there is no such models directory", printable_path(directory)));
      continue;
    }
    if (!is_cache) look_in_cache(directory);
    add_directory(directory, models, report);
  }
  return models;
}

ModelLocation location_of(const KnownModel& model, const std::optional<std::string>& revision) {
  ModelLocation location;
  location.name = model.name;
  if (model.repository) {
    RepositoryName repository = *model.repository;
    repository.revision = revision;
    location.folder = find_in_hub_cache(repository, model.place);
    location.found_in = "Hugging Face cache";
    location.revision = location.folder.filename().string();
    return location;
  }
  if (revision) {
    fail(ErrorKind::invalid, "{}@{}: {} is a folder and has no revisions, only models of the Hugging Face cache have; leave @{} out",
         printable(model.name), printable(*revision), printable_path(model.folder), printable(*revision));
  }
  if (!model.problem.empty()) fail(ErrorKind::io, "{}", model.problem);
  location.folder = model.folder;
  location.found_in = "models directory";
  return location;
}

std::string_view without_organisation(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

bool is_whole_name(std::string_view name, std::string_view typed) {
  const std::string lower = lower_case(name);
  return lower == lower_case(typed) || without_organisation(lower) == lower_case(typed);
}

bool is_model_folder(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name == "config.json" || name.ends_with(".safetensors") || name.ends_with(".gguf")) return true;
  }
  return false;
}

}  // namespace lagoon
