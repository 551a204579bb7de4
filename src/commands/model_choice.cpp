#include "commands/model_choice.h"

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/quantization_config.h"
#include "checkpoint/synthetic.h"
#include "checkpoint/synthetic_shapes.h"
#include "planning/published_models.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <system_error>

namespace lagoon {
namespace {

constexpr uint64_t json_limit = 16 << 20;

/// Of the published S-2.1 and XS-2.1, which share one tokenizer: what oQ4e's repository holds beside its weights.
constexpr uint64_t published_text_bytes = 7'701'545;

/// What this machine has under the name counts before what is known without a download.
bool is_here(const std::string& model, const CheckpointPlaces& places) {
  try {
    (void)find_model(model, places);
    return true;
  } catch (const Error&) {
    return false;  // whoever opens it then says why
  }
}

/// The shape whose facts are those of a published model.
const PublishedShape* shape_of_published(const std::string& id) {
  const std::vector<PublishedModel> models = published_models();
  for (const PublishedShape& shape : published_shapes()) {
    const PublishedModel* model = find_published_model(models, read_model_config(config_of(shape, shape.layers), "config.json"));
    if (model != nullptr && model->id == id) return &shape;
  }
  return nullptr;
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
       "--quantization `{}`: write bf16, BITS/GROUP such as 4/64, the name of a known artifact, or a JSON file with a quantization block",
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

std::vector<Artifact> artifacts_of(const Environment& environment) { return known_artifacts(environment.artifacts_folder); }

Checkpoint open_artifact(const Artifact& artifact) {
  if (!artifact.formats) {
    fail(ErrorKind::unsupported, "{} ({}): {}; take another quantization, `lagoon plan --artifacts` lists those that are known", artifact.repository,
         artifact.format, artifact.reason);
  }
  const PublishedShape& shape = *find_shape(artifact.model);
  return open_described(artifact.repository, config_of(shape, shape.layers), *artifact.formats);
}

ChosenModel choose_model(const std::string& model, const Environment& environment) {
  if (!is_here(model, environment.places)) {
    const std::vector<Artifact> artifacts = artifacts_of(environment);
    if (const Artifact* artifact = find_artifact(artifacts, model)) {
      return {.name = artifact->repository,
              .kind = "artifact",
              .checkpoint = open_artifact(*artifact),
              .artifact = *artifact,
              .text_bytes = published_text_bytes};
    }
    if (const PublishedShape* shape = shape_of_published(model)) {
      return {.name = model,
              .kind = "published",
              .checkpoint = open_described(model, config_of(*shape, shape->layers), *FormatMap::uniform("bf16")),
              .text_bytes = published_text_bytes};
    }
    if (model.find(':') != std::string::npos) {
      const SyntheticSpec spec = parse_synthetic_spec(model);
      return {.name = to_string(spec), .kind = "synthetic", .checkpoint = open_synthetic(spec)};
    }
  }
  Checkpoint checkpoint = Checkpoint::open(model, environment.places, SystemFiles());
  const uint64_t text_bytes = text_bytes_of(checkpoint.folder());
  return {.name = printable(model, 4096), .kind = "checkpoint", .checkpoint = std::move(checkpoint), .text_bytes = text_bytes};
}

Checkpoint open_weights(const std::string& model, const Environment& environment) {
  const bool spec = model.find(':') != std::string::npos && !is_here(model, environment.places);
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
