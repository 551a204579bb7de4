// model_folder.cpp: from what a person types to a folder; the order is that of model_catalog.h. A path wins over a name; `nano` is a
// reserved word (the folder of that name is ./nano).
#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/folder_access.h"
#include "checkpoint/hugging_face_cache.h"
#include "checkpoint/known_models.h"
#include "machine/file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

namespace lagoon {
namespace {

namespace fs = std::filesystem;

constexpr size_t longest_name = 1024;  // bytes; longer texts are no names
constexpr size_t most_named = 8;       // in one sentence

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

[[noreturn]] void refuse_file(const std::string& model) {
  const fs::path path(model);
  const std::string extension = path.extension().string();
  if (extension == ".gguf") {
    fail(ErrorKind::unsupported, "{}: this is a GGUF file, which Lagoon does not read; give the folder of a safetensors checkpoint",
         printable_path(path));
  }
  if (extension == ".bin" || extension == ".pt" || extension == ".pth") {
    fail(ErrorKind::unsupported, "{}: this is a PyTorch file, which Lagoon does not read; give the folder of a safetensors checkpoint",
         printable_path(path));
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  fail(ErrorKind::invalid, "{}: this is a file, a folder was expected; give the folder that it is in: {}", printable_path(path),
       printable_path(folder));
}

ModelLocation shipped_nano(const CheckpointPlaces& places) {
  const fs::path folder = places.shipped_models / "nano";
  if (!places.shipped_models.empty() && is_folder(folder)) return {.folder = folder, .name = "nano", .found_in = "shipped"};
  fail(ErrorKind::invalid, "nano: the model that ships with Lagoon is not at {}; run Lagoon from its source tree or its installation, or give a path",
       printable_path(folder));
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

/// Everything that has a name: nano, aliases, and what is in cache and directories.
class NamedModels {
 public:
  explicit NamedModels(const CheckpointPlaces& places)
      : places_(places), known_(known_models(places, [&](const fs::path&, const std::string& why) { closed_.push_back(why); })) {}

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    if (!places_.shipped_models.empty()) names.emplace_back("nano");
    for (const ModelAlias& alias : places_.aliases) names.push_back(alias.name);
    for (const KnownModel& model : known_) names.push_back(model.name);
    return names;
  }

  /// What has exactly this name; of several places the first counts.
  std::optional<ModelLocation> find(const Query& query) const {
    if (query.name == "nano") {
      if (!query.revision) return shipped_nano(places_);
      fail(ErrorKind::invalid, "nano@{0}: the model that ships with Lagoon has no revisions; leave @{0} out", printable(*query.revision));
    }
    for (const ModelAlias& alias : places_.aliases) {
      if (alias.name == query.name) return find_alias(alias, query.revision, places_);
    }
    for (const KnownModel& model : known_) {
      if (model.name == query.name) return location_of(model, query.revision);
    }
    return std::nullopt;
  }

  /// Why there may be more than was found: places, and folders that stand before the name, that cannot be looked into.
  std::vector<std::string> closed(const std::string& name) const {
    std::vector<std::string> reasons = closed_;
    for (const KnownModel& model : known_) {
      if (!model.problem.empty() && lower_case(name).starts_with(lower_case(model.name) + "/")) reasons.push_back(model.problem);
    }
    return reasons;
  }

 private:
  const CheckpointPlaces& places_;
  std::vector<std::string> closed_;
  std::vector<KnownModel> known_;
};

[[noreturn]] void refuse_several(const std::string& typed, const std::vector<std::string>& candidates) {
  std::vector<std::string> names;
  for (const std::string& name : candidates) {
    if (names.size() < most_named) names.push_back("`" + printable(name) + "`");
  }
  fail(ErrorKind::invalid, "{}: this fits {} models: {}{}; write more of the name", printable(typed), candidates.size(), fmt::join(names, ", "),
       candidates.size() > most_named ? ", ..." : "");
}

[[noreturn]] void refuse_unknown(const std::string& model, const Query& query, const CheckpointPlaces& places, const NamedModels& named) {
  std::string sentence = fmt::format("{}: there is no such folder, and no model of this name", printable(model));
  if (!places.hub_cache.empty()) sentence += fmt::format(" in the Hugging Face cache ({})", printable_path(places.hub_cache));
  if (!places.models_dirs.empty()) {
    std::vector<std::string> directories;
    for (const fs::path& directory : places.models_dirs) directories.push_back(printable_path(directory));
    sentence += fmt::format(" or in {}", fmt::join(directories, ", "));
  }
  if (const std::vector<std::string> closed = named.closed(query.name); !closed.empty()) {
    const size_t count = std::min(closed.size(), most_named);
    sentence +=
        fmt::format("; not everything could be searched ({}{})", fmt::join(closed.begin(), closed.begin() + static_cast<std::ptrdiff_t>(count), "; "),
                    closed.size() > count ? "; ..." : "");
  }
  const auto nearest = nearest_model_name(query.name, places);
  if (nearest) {
    fail(ErrorKind::invalid, "{}; did you mean `{}`? `lagoon models` lists what is here", sentence, printable(*nearest));
  }
  fail(ErrorKind::invalid, "{}; download the model first, or give a folder, a name that `lagoon models` lists, or `nano`", sentence);
}

ModelLocation find_by_name(const std::string& model, const CheckpointPlaces& places) {
  const Query query = parse_query(model);
  const NamedModels named(places);
  if (const auto found = named.find(query)) return *found;
  const std::vector<std::string> names = names_like(named.names(), query.name);
  // A file of this name wins over a name that it only resembles.
  const bool whole = !names.empty() && is_whole_name(names.front(), query.name);
  std::error_code error;
  if (!whole && fs::exists(model, error)) refuse_file(model);
  if (names.size() > 1) refuse_several(model, names);
  if (names.empty()) refuse_unknown(model, query, places, named);
  return *named.find({names.front(), query.revision});
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
  if (const std::string why = why_closed(model); !why.empty()) fail(ErrorKind::io, "{}", why);
  const fs::path tried = fs::absolute(model, error);
  fail(ErrorKind::invalid, "{}: there is no folder {}; give a folder, a name that `lagoon models` lists, or `nano`", printable(model),
       printable_path(error ? fs::path(model) : tried.lexically_normal()));
}

fs::path find_model_folder(const std::string& model, const CheckpointPlaces& places) { return find_model(model, places).folder; }

}  // namespace lagoon
