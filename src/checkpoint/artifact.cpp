#include "checkpoint/artifact.h"

#include "base/embedded_file.h"
#include "base/error.h"
#include "checkpoint/config_reader.h"
#include "checkpoint/known_models.h"
#include "checkpoint/synthetic_shapes.h"
#include "machine/file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <system_error>

namespace lagoon {

std::span<const EmbeddedFile> artifact_files();

namespace {

constexpr uint64_t file_limit = 4 << 20;
constexpr std::array<std::string_view, 12> keys{"repository",   "revision",         "model",  "format", "formats", "reason", "exact",
                                                "weight_bytes", "repository_bytes", "shards", "note",   "source"};

std::string required(const ConfigReader& reader, std::string_view key) {
  const auto text = reader.text(key);
  if (!text || text->empty()) fail(ErrorKind::corrupt, "{} is {}; a text was needed", reader.about(key), text ? "empty" : "missing");
  if (printable(*text, text->size()) != *text)
    fail(ErrorKind::corrupt, "{} is `{}`; a text without control characters was needed", reader.about(key), printable(*text));
  return *text;
}

std::optional<uint64_t> bytes_of(const ConfigReader& reader, std::string_view key) {
  const auto bytes = reader.integer(key, 1, int64_t{1} << 60);
  return bytes ? std::optional(static_cast<uint64_t>(*bytes)) : std::nullopt;
}

std::string stem_of(std::string_view name) { return std::string(name.substr(0, name.rfind('.'))); }

}  // namespace

Artifact read_artifact(const Json& document, const std::string& name, const std::string& what) {
  const ConfigReader reader(document, what);
  reader.refuse_other_keys(keys);
  Artifact artifact;
  artifact.name = name;
  artifact.repository = required(reader, "repository");
  artifact.revision = printable(reader.text("revision").value_or(""), 4096);
  artifact.model = required(reader, "model");
  if (find_shape(artifact.model) == nullptr)
    fail(ErrorKind::corrupt, "{} is `{}`, which is no model that Lagoon knows the shape of", reader.about("model"), printable(artifact.model));
  artifact.format = required(reader, "format");
  artifact.source = required(reader, "source");
  artifact.note = printable(reader.text("note").value_or(""), 4096);
  artifact.exact = reader.boolean("exact").value_or(true);
  artifact.weight_bytes = bytes_of(reader, "weight_bytes");
  artifact.repository_bytes = bytes_of(reader, "repository_bytes");
  if (const auto shards = reader.integer("shards", 1, 100000)) artifact.shards = static_cast<int>(*shards);
  if (const Json* formats = reader.find("formats")) {
    artifact.formats = FormatMap::read(*formats, what);
  } else {
    artifact.reason = required(reader, "reason");
  }
  return artifact;
}

const std::vector<Artifact>& shipped_artifacts() {
  static const std::vector<Artifact> artifacts = [] {
    std::vector<Artifact> all;
    for (const EmbeddedFile& file : artifact_files()) {
      const std::string what = "data/artifacts/" + std::string(file.name);
      all.push_back(read_artifact(parse_json(file.text, what), stem_of(file.name), what));
    }
    return all;
  }();
  return artifacts;
}

std::vector<Artifact> known_artifacts(const std::filesystem::path& own, std::vector<std::string>& problems) {
  std::map<std::string, Artifact> by_name;
  for (const Artifact& artifact : shipped_artifacts()) by_name[artifact.name] = artifact;
  std::error_code error;
  if (!own.empty()) {
    for (std::filesystem::directory_iterator at(own, error); !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
      if (at->path().extension() != ".json") continue;
      const std::string what = printable_path(at->path());
      const std::string name = at->path().stem().string();
      try {
        by_name[name] = read_artifact(parse_json(read_text(SystemFiles(), at->path(), file_limit), what), name, what);
      } catch (const Error& fault) {
        problems.emplace_back(fault.what());  // one bad file must not take away the others
      }
    }
  }
  std::vector<Artifact> artifacts;
  for (auto& [name, artifact] : by_name) artifacts.push_back(std::move(artifact));
  return artifacts;
}

const Artifact* find_artifact(const std::vector<Artifact>& artifacts, std::string_view name) {
  const auto found = std::find_if(artifacts.begin(), artifacts.end(), [&](const Artifact& candidate) {
    return lower_case(candidate.name) == lower_case(name) || lower_case(candidate.repository) == lower_case(name);
  });
  return found == artifacts.end() ? nullptr : &*found;
}

}  // namespace lagoon
