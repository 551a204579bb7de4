// model_folder.cpp: from what a person types to a folder; the order is that of model_catalog.h. A path wins over a name; `nano` is a
// reserved word (the folder of that name is ./nano).
#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/hugging_face_cache.h"
#include "checkpoint/known_models.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

namespace lagoon {
namespace {

namespace fs = std::filesystem;

constexpr size_t least_substring = 2;  // letters; fewer would find nearly anything
constexpr size_t longest_name = 1024;  // bytes; longer texts are no names

std::string shown(const fs::path& path) { return printable(path.string(), 4096); }

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

[[noreturn]] void refuse_file(const std::string& model) {
  const fs::path path(model);
  const std::string extension = path.extension().string();
  if (extension == ".gguf") {
    fail(ErrorKind::unsupported, "{}: this is a GGUF file, which Lagoon does not read; give the folder of a safetensors checkpoint", shown(path));
  }
  if (extension == ".bin" || extension == ".pt" || extension == ".pth") {
    fail(ErrorKind::unsupported, "{}: this is a PyTorch file, which Lagoon does not read; give the folder of a safetensors checkpoint", shown(path));
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  fail(ErrorKind::invalid, "{}: this is a file, a folder was expected; give the folder that it is in: {}", shown(path), shown(folder));
}

ModelLocation shipped_nano(const CheckpointPlaces& places) {
  const fs::path folder = places.shipped_models / "nano";
  if (!places.shipped_models.empty() && is_folder(folder)) return {.folder = folder, .name = "nano", .found_in = "shipped"};
  fail(ErrorKind::invalid, "nano: the model that ships with Lagoon is not at {}; run Lagoon from its source tree or its installation, or give a path",
       shown(folder));
}

/// A folder named by its path. One of the Hugging Face cache has the repository's name.
ModelLocation folder_at(const std::string& model) {
  std::error_code error;
  fs::path whole = fs::absolute(model, error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  ModelLocation location{.folder = model, .name = whole.filename().string(), .found_in = "folder"};
  if (location.name.empty()) location.name = model;
  if (const auto repository = repository_of_snapshot(whole)) {
    location.name = repository->id();
    location.revision = *repository->revision;
  }
  return location;
}

struct Query {
  std::string name;
  std::optional<std::string> revision;
};

/// NAME or NAME@REVISION.
Query parse_query(const std::string& text) {
  const size_t at = text.find('@');
  if (at == std::string::npos || at == 0) return {text, std::nullopt};
  const std::string revision = text.substr(at + 1);
  if (!is_revision(revision)) {
    fail(ErrorKind::invalid, "{}: `{}` is no name of a revision; give a branch, a tag or a commit after the @", printable(text), printable(revision));
  }
  return {text.substr(0, at), revision};
}

ModelLocation find_alias(const ModelAlias& alias, const std::optional<std::string>& revision, const CheckpointPlaces& places) {
  if (revision && alias.revision) {
    fail(ErrorKind::invalid, "{}@{}: the alias `{}` stands for revision {} of {}; leave @{} out, or name the model itself", printable(alias.name),
         printable(*revision), printable(alias.name), printable(*alias.revision), printable(alias.model), printable(*revision));
  }
  CheckpointPlaces without_aliases = places;
  without_aliases.aliases.clear();
  const std::optional<std::string> pinned = alias.revision ? alias.revision : revision;
  try {
    ModelLocation location = find_model(pinned ? alias.model + "@" + *pinned : alias.model, without_aliases);
    location.alias = alias.name;
    location.model_type = alias.model_type;
    return location;
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("alias `{}`: {}", printable(alias.name), error.what()));
  }
}

/// The models whose name or short name passes; one for each name, since of several places the first counts.
template <typename Passes>
std::vector<const KnownModel*> models_that(const std::vector<KnownModel>& known, const Passes& passes) {
  std::vector<const KnownModel*> found;
  for (const KnownModel& model : known) {
    const std::string name = lower_case(model.name);
    const bool new_name = std::none_of(found.begin(), found.end(), [&](const KnownModel* other) { return other->name == model.name; });
    if (new_name && (passes(name) || passes(std::string(without_organisation(name))))) found.push_back(&model);
  }
  return found;
}

/// Whether `typed` stands in `name` from the beginning of a word on: s-2.1-oq4e is no part of laguna-xs-2.1-oq4e, which is another model.
bool holds_words(const std::string& name, const std::string& typed) {
  for (size_t at = name.find(typed); at != std::string::npos; at = name.find(typed, at + 1)) {
    if (at == 0 || std::string_view("-_./").find(name[at - 1]) != std::string_view::npos) return true;
  }
  return false;
}

/// The one model that was found; nullptr if none. @throws Error(invalid) for several
const KnownModel* only_one(const std::vector<const KnownModel*>& found, const std::string& typed) {
  if (found.size() <= 1) return found.empty() ? nullptr : found.front();
  constexpr size_t most = 8;
  std::vector<std::string> names;
  for (const KnownModel* model : found) {
    if (names.size() < most) names.push_back("`" + printable(model->name) + "`");
  }
  fail(ErrorKind::invalid, "{}: this fits {} models: {}{}; write more of the name", printable(typed), found.size(), fmt::join(names, ", "),
       found.size() > most ? ", ..." : "");
}

[[noreturn]] void refuse_unknown(const std::string& model, const Query& query, const CheckpointPlaces& places) {
  std::string sentence = fmt::format("{}: there is no such folder, and no model of this name", printable(model));
  if (!places.hub_cache.empty()) sentence += fmt::format(" in the Hugging Face cache ({})", shown(places.hub_cache));
  if (!places.models_dirs.empty()) {
    std::vector<std::string> directories;
    for (const fs::path& directory : places.models_dirs) directories.push_back(shown(directory));
    sentence += fmt::format(" or in {}", fmt::join(directories, ", "));
  }
  const auto nearest = nearest_model_name(query.name, places);
  if (nearest) {
    fail(ErrorKind::invalid, "{}; did you mean `{}`? `lagoon models` lists what is here", sentence, printable(*nearest));
  }
  fail(ErrorKind::invalid, "{}; download the model first, or give a folder, a name that `lagoon models` lists, or `nano`", sentence);
}

ModelLocation find_by_name(const std::string& model, const CheckpointPlaces& places) {
  const Query query = parse_query(model);
  for (const ModelAlias& alias : places.aliases) {
    if (alias.name == query.name) return find_alias(alias, query.revision, places);
  }
  const std::vector<KnownModel> known = known_models(places);
  for (const KnownModel& candidate : known) {
    if (candidate.name == query.name) return location_of(candidate, query.revision);
  }
  const std::string typed = lower_case(query.name);
  for (const ModelAlias& alias : places.aliases) {
    if (lower_case(alias.name) == typed) return find_alias(alias, query.revision, places);
  }
  const KnownModel* found = only_one(models_that(known, [&](const std::string& name) { return name == typed; }), model);
  std::error_code error;
  if (found == nullptr && fs::exists(model, error)) refuse_file(model);
  if (found == nullptr) found = only_one(models_that(known, [&](const std::string& name) { return name.starts_with(typed); }), model);
  if (found == nullptr && typed.size() >= least_substring) {
    found = only_one(models_that(known, [&](const std::string& name) { return holds_words(name, typed); }), model);
  }
  if (found == nullptr) refuse_unknown(model, query, places);
  return location_of(*found, query.revision);
}

}  // namespace

ModelLocation find_model(const std::string& model, const CheckpointPlaces& places) {
  if (model.empty() || model.find('\0') != std::string::npos) {
    fail(ErrorKind::invalid,
         "the model is not named; give a folder, `org/name` of the Hugging Face cache, a name that `lagoon models` lists, or `nano`");
  }
  if (model == "nano") return shipped_nano(places);
  if (is_folder(model)) return folder_at(model);
  const bool must_be_path = fs::path(model).is_absolute() || model == "." || model == ".." || model.starts_with("./") || model.starts_with("../");
  if (!must_be_path && model.size() <= longest_name) return find_by_name(model, places);
  std::error_code error;
  if (fs::exists(model, error)) refuse_file(model);
  const fs::path tried = fs::absolute(model, error);
  fail(ErrorKind::invalid, "{}: there is no folder {}; give a folder, a name that `lagoon models` lists, or `nano`", printable(model),
       shown(error ? fs::path(model) : tried.lexically_normal()));
}

fs::path find_model_folder(const std::string& model, const CheckpointPlaces& places) { return find_model(model, places).folder; }

}  // namespace lagoon
