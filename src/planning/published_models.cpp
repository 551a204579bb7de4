#include "planning/published_models.h"

#include "base/embedded_file.h"
#include "base/error.h"
#include "checkpoint/config_reader.h"
#include "planning/facts_catalogue.h"

#include <algorithm>
#include <array>
#include <limits>

namespace lagoon {

std::span<const EmbeddedFile> model_files();  // data/models/*.json

namespace {

/// What tells one model's shape from another's: the key as config.json has it, and where it ends when a configuration is read.
struct ShapeKey {
  std::string_view key;
  bool needed;
  int64_t (*of)(const ModelConfig&);
};

constexpr auto shape_keys = std::to_array<ShapeKey>({
    {"hidden_size", true, [](const ModelConfig& config) -> int64_t { return config.hidden; }},
    {"num_hidden_layers", true, [](const ModelConfig& config) -> int64_t { return config.layer_count(); }},
    {"num_experts", true, [](const ModelConfig& config) -> int64_t { return config.experts; }},
    {"num_experts_per_tok", true, [](const ModelConfig& config) -> int64_t { return config.experts_per_token; }},
    {"moe_intermediate_size", true, [](const ModelConfig& config) -> int64_t { return config.expert_width; }},
    {"vocab_size", true, [](const ModelConfig& config) -> int64_t { return config.vocabulary; }},
    {"original_max_position_embeddings", false,
     [](const ModelConfig& config) -> int64_t { return static_cast<int64_t>(config.full_rotary.original_context); }},
});

constexpr size_t longest_text = 400;

void check_text(const std::string& text, const std::string& about) {
  const bool control = std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
  if (text.empty() || text.size() > longest_text || control) {
    fail(ErrorKind::corrupt, "{} is `{}`; one line of 1 to {} bytes was needed", about, printable(text, 60), longest_text);
  }
}

std::string needed_text(const ConfigReader& reader, std::string_view key) {
  const auto text = reader.text(key);
  if (!text) fail(ErrorKind::corrupt, "{} is missing; a text was needed", reader.about(key));
  check_text(*text, reader.about(key));
  return *text;
}

/// Empty where the key is absent.
std::string optional_text(const ConfigReader& reader, std::string_view key) { return reader.has(key) ? needed_text(reader, key) : std::string(); }

ConfigReader needed_child(const ConfigReader& reader, std::string_view key) {
  auto child = reader.child(key);
  if (!child) fail(ErrorKind::corrupt, "{} is missing; an object was needed", reader.about(key));
  return *child;
}

std::string read_id(const ConfigReader& file) {
  std::string id = needed_text(file, "id");
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-'; };
  if (!std::all_of(id.begin(), id.end(), plain)) {
    fail(ErrorKind::corrupt, "{} is `{}`; small letters, digits, points and hyphens were needed", file.about("id"), printable(id));
  }
  return id;
}

std::map<std::string, int64_t> read_shape(const ConfigReader& shape) {
  std::map<std::string, int64_t> values;
  for (const ShapeKey& key : shape_keys) {
    const auto value = shape.integer(key.key, 1, std::numeric_limits<int32_t>::max());
    if (value) values.emplace(key.key, *value);
    if (!value && key.needed) fail(ErrorKind::corrupt, "{} is missing; a whole number was needed", shape.about(key.key));
  }
  for (const auto& [key, value] : shape.object().items()) {
    const auto found =
        std::find_if(shape_keys.begin(), shape_keys.end(), [name = std::string_view(key)](const ShapeKey& known) { return known.key == name; });
    if (found == shape_keys.end()) fail(ErrorKind::corrupt, "{} does not tell shapes apart; take it out", shape.about(printable(key)));
  }
  return values;
}

const FactKind& fact_named(const ConfigReader& list, const std::string& key) {
  const FactKind* kind = find_fact_kind(key);
  if (kind == nullptr)
    fail(ErrorKind::corrupt, "{} is no fact; `lagoon facts nano --format json` shows the keys of all facts", list.about(printable(key)));
  return *kind;
}

/// The value in the type of its fact.
Json read_value(const ConfigReader& statement, FactType type) {
  constexpr std::string_view key = "value";
  if (!statement.has(key)) fail(ErrorKind::corrupt, "{} is missing; leave the whole statement out where nothing is disclosed", statement.about(key));
  switch (type) {
    case FactType::text:
      return needed_text(statement, key);
    case FactType::count:
      return *statement.integer(key, 1, int64_t{1} << 53);
    case FactType::number:
      return *statement.number(key, 0.0, 1e18);
    case FactType::flag:
      return *statement.boolean(key);
  }
  return nullptr;
}

PublishedStatement read_statement(const ConfigReader& statement, const FactKind& kind) {
  statement.refuse_other_keys(std::array<std::string_view, 4>{"value", "place", "excerpt", "note"});
  return {.value = read_value(statement, kind.type),
          .place = needed_text(statement, "place"),
          .excerpt = optional_text(statement, "excerpt"),
          .note = optional_text(statement, "note")};
}

}  // namespace

const PublishedStatement* PublishedModel::statement(const std::string& key) const {
  const auto found = statements.find(key);
  return found == statements.end() ? nullptr : &found->second;
}

PublishedModel read_published_model(const Json& document, std::string_view what) {
  const ConfigReader file(document, std::string(what));
  file.refuse_other_keys(std::array<std::string_view, 6>{"id", "name", "repository", "shape", "statements", "notes"});
  PublishedModel model;
  model.id = read_id(file);
  model.name = needed_text(file, "name");
  model.repository = needed_text(file, "repository");
  model.shape = read_shape(needed_child(file, "shape"));
  const ConfigReader statements = needed_child(file, "statements");
  for (const auto& [key, value] : statements.object().items()) {
    const FactKind& kind = fact_named(statements, key);
    if (kind.origin == FactOrigin::checkpoint) {
      fail(ErrorKind::corrupt, "{} is a fact that the checkpoint itself decides; write a note about it instead", statements.about(key));
    }
    const ConfigReader statement(value, std::string(what), "statements." + key);
    model.statements.emplace(key, read_statement(statement, kind));
  }
  if (const auto notes = file.child("notes")) {
    for (const auto& [key, value] : notes->object().items()) {
      fact_named(*notes, key);
      model.notes.emplace(key, needed_text(*notes, key));
    }
  }
  return model;
}

std::vector<PublishedModel> published_models() {
  std::vector<PublishedModel> models;
  for (const EmbeddedFile& file : model_files()) {
    const std::string what = "data/models/" + std::string(file.name);
    models.push_back(read_published_model(parse_json(file.text, what), what));
  }
  return models;
}

const PublishedModel* find_published_model(std::span<const PublishedModel> models, const ModelConfig& config) {
  const auto has_shape = [&](const PublishedModel& model) {
    return std::all_of(shape_keys.begin(), shape_keys.end(), [&](const ShapeKey& key) {
      const auto value = model.shape.find(std::string(key.key));
      return value == model.shape.end() || value->second == key.of(config);
    });
  };
  const auto found = std::find_if(models.begin(), models.end(), has_shape);
  return found == models.end() ? nullptr : &*found;
}

}  // namespace lagoon
