#include "commands/model_choice.h"

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/known_models.h"
#include "checkpoint/quantization_config.h"
#include "checkpoint/synthetic.h"
#include "checkpoint/synthetic_shapes.h"
#include "machine/file.h"
#include "planning/published_models.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <system_error>

namespace lagoon {
namespace {

constexpr uint64_t json_limit = 16 << 20;

/// Of the published S-2.1 and XS-2.1, which share one tokenizer: what oQ4e's repository holds beside its weights.
constexpr uint64_t published_text_bytes = 7'701'545;

/// Where it is on this machine; nullopt if nothing here, or more than one thing, has the name.
std::optional<ModelLocation> locate(const std::string& model, const CheckpointPlaces& places) {
  try {
    return find_model(model, places);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;  // it is here and cannot be reached
    return std::nullopt;                       // whoever opens it then says why
  }
}

bool is_exact(const std::string& model, const ModelLocation& location) {
  const std::string name = model.substr(0, model.find('@'));
  std::error_code error;
  return location.found_in == "shipped" || std::filesystem::exists(model, error) || is_whole_name(location.name, name) ||
         is_whole_name(location.alias, name);
}

/// The shape whose facts are those of a published model.
const PublishedShape* shape_of_published(const PublishedModel& published) {
  const std::vector<PublishedModel> one = {published};
  const auto shapes = published_shapes();
  const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const PublishedShape& shape) {
    return find_published_model(one, read_model_config(config_of(shape, shape.layers), "config.json")) != nullptr;
  });
  return found == shapes.end() ? nullptr : &*found;
}

constexpr const char* implied_headers = "headers that the published shape implies";

ChosenModel choose_artifact(const Artifact& artifact, ModelNeed need) {
  const PublishedShape& shape = *find_shape(artifact.model);
  const bool known = artifact.formats.has_value();
  Checkpoint checkpoint = known || need == ModelNeed::formats
                              ? open_artifact(artifact)
                              : open_described(artifact.repository, config_of(shape, shape.layers), *FormatMap::uniform("bf16"));
  return {.name = artifact.repository,
          .kind = "artifact",
          .checkpoint = std::move(checkpoint),
          .artifact = artifact,
          .text_bytes = published_text_bytes,
          .formats_known = known,
          .headers_place = implied_headers};
}

ChosenModel choose_published(const PublishedModel& published, const PublishedShape& shape) {
  return {.name = published.id,
          .kind = "published",
          .checkpoint = open_described(published.id, config_of(shape, shape.layers), *FormatMap::uniform("bf16")),
          .text_bytes = published_text_bytes,
          .headers_place = implied_headers};
}

/// What is known without a download.
class KnownNames {
 public:
  explicit KnownNames(const Environment& environment) : artifacts_(artifacts_of(environment)), published_(published_models()) {
    std::erase_if(published_, [](const PublishedModel& model) { return shape_of_published(model) == nullptr; });
    for (const Artifact& artifact : artifacts_) names_.insert(names_.end(), {artifact.name, artifact.repository});
    for (const PublishedModel& model : published_) names_.push_back(model.id);
  }

  const std::vector<std::string>& names() const { return names_; }

  /// nullopt if nothing is meant. @param exact  by its whole name alone. @throws Error(invalid) if several are meant
  std::optional<ChosenModel> choose(const std::string& typed, ModelNeed need, bool exact) const {
    const size_t at = typed.find('@');
    std::vector<std::string> like = names_like(names_, typed.substr(0, at));
    if (exact) std::erase_if(like, [&](const std::string& name) { return !is_whole_name(name, typed.substr(0, at)); });
    std::vector<const Artifact*> artifacts;
    std::vector<const PublishedModel*> models;
    const auto is_meant = [&](const std::string& name) { return std::find(like.begin(), like.end(), name) != like.end(); };
    for (const Artifact& artifact : artifacts_) {
      if (is_meant(artifact.name) || is_meant(artifact.repository)) artifacts.push_back(&artifact);
    }
    for (const PublishedModel& model : published_) {
      if (is_meant(model.id) && at == std::string::npos) models.push_back(&model);
    }
    // An id is also the name of the repository that the publisher keeps the model in.
    if (exact && models.size() == 1) artifacts.clear();
    if (artifacts.size() + models.size() > 1) {
      fail(ErrorKind::invalid, "{}: this fits {} known names: {}; write more of the name, or a SPEC such as s-2.1:bf16", printable(typed),
           like.size(), fmt::join(like.begin(), like.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(like.size(), 8)), ", "));
    }
    if (!models.empty()) return choose_published(*models.front(), *shape_of_published(*models.front()));
    if (artifacts.empty()) return std::nullopt;
    check_revision(*artifacts.front(), typed);
    return choose_artifact(*artifacts.front(), need);
  }

 private:
  static void check_revision(const Artifact& artifact, const std::string& typed) {
    const size_t at = typed.find('@');
    if (at == std::string::npos || artifact.revision.starts_with(typed.substr(at + 1))) return;
    fail(ErrorKind::invalid, "{}: {} is known at revision {}; leave the revision out", printable(typed), artifact.repository,
         artifact.revision.empty() ? "unknown" : artifact.revision);
  }

  std::vector<Artifact> artifacts_;
  std::vector<PublishedModel> published_;
  std::vector<std::string> names_;
};

/// Says which known name is nearest, if it is nearer than what is on this machine.
void refuse_if_known_is_near(const std::string& model, const KnownNames& known, const CheckpointPlaces& places) {
  size_t best = model.size() / 3 + 1;
  std::string nearest;
  for (const std::string& name : known.names()) {
    for (const std::string& spelling : {name, std::string(without_organisation(name))}) {
      const size_t distance = name_distance(model, spelling);
      if (distance >= best) continue;
      best = distance;
      nearest = spelling;
    }
  }
  const auto local = nearest_model_name(model, places);
  if (nearest.empty() || (local && name_distance(model, *local) <= best)) return;
  fail(ErrorKind::invalid,
       "{}: nothing on this machine, no known artifact and no published model has this name; did you mean `{}`? `lagoon models` lists what is here, "
       "`lagoon plan --artifacts` what is known",
       printable(model), nearest);
}

ChosenModel choose_here(const std::string& model, const ModelLocation& location, const Console& console) {
  console.detail(fmt::format("model: {} ({})", printable_path(location.folder), location.found_in));
  Checkpoint checkpoint = Checkpoint::open(location, SystemFiles());
  const bool said_otherwise = !location.alias.empty() || !location.revision.empty() || !is_exact(model, location);
  const uint64_t text_bytes = text_bytes_of(checkpoint.folder());
  return {.name = said_otherwise ? describe(location) : printable(model, 4096),
          .kind = "checkpoint",
          .checkpoint = std::move(checkpoint),
          .text_bytes = text_bytes};
}

/// Where the copy on this machine cannot be opened and the artifact is known all the same, a plan needs no copy.
ChosenModel choose_exact(const std::string& model, const ModelLocation& location, const Environment& environment, ModelNeed need) {
  try {
    return choose_here(model, location, environment.console);
  } catch (const Error& error) {
    auto known = location.found_in == "Hugging Face cache" ? KnownNames(environment).choose(model, need, true) : std::nullopt;
    if (!known) throw;
    environment.console.warning(fmt::format("the copy on this machine cannot be used ({}); what follows is known without it", error.what()));
    return std::move(*known);
  }
}

/// An alias may also stand for what is not on this machine.
const ModelAlias* find_alias(const std::string& model, const CheckpointPlaces& places) {
  const auto found = std::find_if(places.aliases.begin(), places.aliases.end(),
                                  [&](const ModelAlias& alias) { return lower_case(alias.name) == lower_case(model); });
  return found == places.aliases.end() ? nullptr : &*found;
}

Json read_json(const std::string& path) { return parse_json(read_text(SystemFiles(), path, json_limit), printable(path, 4096)); }

/// The block itself or a config.json that has one.
FormatMap read_map(const std::string& path) {
  Json document = read_json(path);
  if (!document.is_object()) fail(ErrorKind::invalid, "--quantization {}: an object with bits, group_size and paths was needed", printable(path));
  if (!document.contains("quantization") && !document.contains("quantization_config") && !document.contains("text_config"))
    document = Json{{"quantization", std::move(document)}};
  return FormatMap::of(QuantizationConfig::read(document, printable(path, 4096)));
}

FormatMap formats_named(const std::string& quantization, const Environment& environment) {
  if (const auto uniform = FormatMap::uniform(quantization)) return *uniform;
  const std::vector<Artifact> artifacts = artifacts_of(environment);
  const Artifact* artifact = find_artifact(artifacts, quantization);
  if (artifact != nullptr && artifact->formats) return *artifact->formats;
  std::error_code error;
  if (std::filesystem::exists(quantization, error)) return read_map(quantization);
  fail(ErrorKind::invalid,
       "--quantization `{}`: there is no such file; write bf16, BITS/GROUP such as 4/64, the name of a known artifact, or a JSON file with a "
       "quantization block",
       printable(quantization));
}

}  // namespace

uint64_t text_bytes_of(const std::filesystem::path& folder) {
  uint64_t bytes = 0;
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(folder / name, error);
    if (!error) bytes += size;
  }
  return bytes;
}

std::vector<Artifact> artifacts_of(const Environment& environment) {
  std::vector<std::string> problems;
  std::vector<Artifact> artifacts = known_artifacts(environment.artifacts_folder, problems);
  for (const std::string& problem : problems) environment.console.warning("passed over: " + problem);
  return artifacts;
}

Checkpoint open_artifact(const Artifact& artifact) {
  if (!artifact.formats) {
    fail(ErrorKind::unsupported, "{} ({}): {}; take another quantization, `lagoon plan --artifacts` lists those that are known", artifact.repository,
         artifact.format, artifact.reason);
  }
  const PublishedShape& shape = *find_shape(artifact.model);
  return open_described(artifact.repository, config_of(shape, shape.layers), *artifact.formats);
}

ChosenModel choose_model(const std::string& model, const Environment& environment, ModelNeed need) {
  const std::optional<ModelLocation> location = locate(model, environment.places);
  if (location && is_exact(model, *location)) return choose_exact(model, *location, environment, need);
  if (!location && model.find(':') != std::string::npos) {
    const SyntheticSpec spec = parse_synthetic_spec(model);
    return {.name = to_string(spec), .kind = "synthetic", .checkpoint = open_synthetic(spec)};
  }
  const KnownNames known(environment);
  if (auto exact = known.choose(model, need, true)) return std::move(*exact);
  if (location) return choose_here(model, *location, environment.console);
  if (const ModelAlias* alias = find_alias(model, environment.places)) {
    Environment without_aliases = environment;
    without_aliases.places.aliases.clear();
    ChosenModel chosen = choose_model(alias->revision ? alias->model + "@" + *alias->revision : alias->model, without_aliases, need);
    chosen.name = fmt::format("{} = {}", alias->name, chosen.name);
    return chosen;
  }
  if (auto meant = known.choose(model, need, false)) return std::move(*meant);
  refuse_if_known_is_near(model, known, environment.places);
  return choose_here(model, find_model(model, environment.places), environment.console);  // which says what is wrong
}

Json location_json(const Checkpoint& checkpoint) {
  const ModelLocation& location = checkpoint.location();
  if (location.found_in.empty()) return {};
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(printable(value, 4096)); };
  return {{"name", text(location.name)},
          {"found_in", location.found_in},
          {"revision", text(location.revision)},
          {"alias", text(location.alias)},
          {"model_type", text(location.model_type.value_or(""))},
          {"config_says", text(checkpoint.overridden())}};
}

std::string location_note(const Checkpoint& checkpoint) {
  if (checkpoint.location().alias.empty()) return {};
  const std::string odd = checkpoint.overridden().empty() ? "" : fmt::format("; config.json itself says {}", checkpoint.overridden());
  return fmt::format("{}{}", describe(checkpoint.location()), odd);
}

Checkpoint open_weights(const std::string& model, const Environment& environment) {
  const bool spec = model.find(':') != std::string::npos && !locate(model, environment.places);
  return spec ? open_synthetic(parse_synthetic_spec(model)) : Checkpoint::open(model, environment.places, SystemFiles());
}

ChosenModel describe_model(const std::string& config, const std::string& quantization, const Environment& environment) {
  const FormatMap formats = formats_named(quantization, environment);
  return {.name = fmt::format("{} with {}", printable(config, 4096), printable(quantization)),
          .kind = "described",
          .checkpoint = open_described(config, read_json(config), formats),
          .text_bytes = published_text_bytes};
}

}  // namespace lagoon
