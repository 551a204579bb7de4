#include "commands/config_file.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "base/json.h"
#include "checkpoint/hugging_face_cache.h"
#include "checkpoint/known_models.h"
#include "machine/file.h"

#include <nlohmann/json.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <system_error>

namespace lagoon {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t file_limit = 1 << 20;  // bytes
constexpr size_t longest_alias = 96;      // bytes

std::string shown(const Json& value) { return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60); }

/// One object of the file and where it stands: "config.json: `models.s21`".
class Section {
 public:
  /// An object whose keys are names of the user's.
  Section(const Json& object, std::string what, std::string inside) : object_(object), what_(std::move(what)), inside_(std::move(inside)) {}

  Section(const Json& object, std::string what, std::string inside, std::initializer_list<std::string_view> keys)
      : Section(object, std::move(what), std::move(inside)) {
    if (!object_.is_object()) {
      fail(ErrorKind::invalid, "{} is {}, an object was needed with some of the keys {}",
           inside_.empty() ? what_ + ": the document" : fmt::format("{}: `{}`", what_, inside_), shown(object_), fmt::join(keys, ", "));
    }
    for (const auto& [key, value] : object_.items()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      fail(ErrorKind::invalid, "{} is no key that Lagoon knows; known are {}", about(key), fmt::join(keys, ", "));
    }
  }

  std::string about(std::string_view key) const { return fmt::format("{}: `{}{}{}`", what_, inside_, inside_.empty() ? "" : ".", printable(key)); }
  const std::string& what() const { return what_; }

  const Json* find(std::string_view key) const {
    const auto at = object_.find(std::string(key));
    return at == object_.end() ? nullptr : &*at;
  }

  std::optional<std::string> text(std::string_view key, std::string_view needed) const {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    return text_of(*value, about(key), needed);
  }

  static std::string text_of(const Json& value, const std::string& about, std::string_view needed) {
    if (!value.is_string()) fail(ErrorKind::invalid, "{} is {}, {} was needed", about, shown(value), needed);
    std::string text = value.get<std::string>();
    if (text.empty() || text.find('\0') != std::string::npos) fail(ErrorKind::invalid, "{} is {}, {} was needed", about, shown(value), needed);
    return text;
  }

  std::optional<uint64_t> bytes(std::string_view key) const {
    const auto size = text(key, "a size such as \"48GiB\"");
    if (!size) return std::nullopt;
    return parse_byte_size(*size, about(key));
  }

 private:
  const Json& object_;
  std::string what_;
  std::string inside_;
};

bool is_path(const std::string& text) { return text.starts_with("/") || text.starts_with("~/") || text == "~"; }

/// A path that means the same from wherever Lagoon is started.
fs::path path_of(const std::string& text, const std::string& about, const fs::path& home) {
  if (text.starts_with("/")) return text;
  if (is_path(text) && !home.empty()) return text == "~" ? home : home / text.substr(2);
  fail(ErrorKind::invalid, "{} is `{}`, a path from / or ~/ on was needed", about, printable(text));
}

std::vector<fs::path> read_models_dirs(const Section& top, const fs::path& home) {
  const Json* list = top.find("models_dirs");
  std::vector<fs::path> directories;
  if (list == nullptr) return directories;
  const std::string about = top.about("models_dirs");
  if (!list->is_array()) fail(ErrorKind::invalid, "{} is {}, a list of folders such as [\"/data/models\"] was needed", about, shown(*list));
  for (const Json& entry : *list) directories.push_back(path_of(Section::text_of(entry, about, "a list of folders"), about, home));
  return directories;
}

void check_alias_name(const std::string& name, const Section& models) {
  const auto plain = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') || letter == '.' ||
           letter == '_' || letter == '-';
  };
  if (lower_case(name) == "nano") fail(ErrorKind::invalid, "{}: nano is the model that ships with Lagoon; choose another name", models.about(name));
  if (!name.empty() && name.size() <= longest_alias && std::all_of(name.begin(), name.end(), plain) && name.front() != '.' && name.front() != '-')
    return;
  fail(ErrorKind::invalid, "{}: a name is made of at most {} letters, digits, `.`, `_` and `-`, and begins with a letter, a digit or `_`",
       models.about(name), longest_alias);
}

ModelAlias read_alias(const std::string& name, const Json& value, const Section& models, const fs::path& home) {
  check_alias_name(name, models);
  const Section entry(value, models.what(), "models." + name, {"model", "revision", "model_type"});
  ModelAlias alias;
  alias.name = name;
  const auto model = entry.text("model", "a folder or the name of a model");
  if (!model) fail(ErrorKind::invalid, "{} is missing; an alias needs a folder or the name of a model", entry.about("model"));
  alias.model = *model;
  const bool relative = model->starts_with("./") || model->starts_with("../") || *model == "." || *model == "..";
  if (is_path(*model) || relative) alias.model = path_of(*model, entry.about("model"), home).string();
  alias.revision = entry.text("revision", "a branch, a tag or a commit hash");
  if (alias.revision && !is_revision(*alias.revision)) {
    fail(ErrorKind::invalid, "{} is `{}`, a branch, a tag or a commit hash was needed", entry.about("revision"), printable(*alias.revision));
  }
  if (alias.revision && (is_path(*model) || *model == "nano")) {
    fail(ErrorKind::invalid, "{}: `{}` is a folder, only models of the Hugging Face cache have revisions; leave it out", entry.about("revision"),
         printable(*model));
  }
  if (alias.revision && model->find('@') != std::string::npos) {
    fail(ErrorKind::invalid, "{} is `{}`, and `model` is `{}` with a revision of its own; leave one out", entry.about("revision"),
         printable(*alias.revision), printable(*model));
  }
  alias.model_type = entry.text("model_type", "\"laguna\"");
  if (alias.model_type && *alias.model_type != "laguna") {
    fail(ErrorKind::invalid, "{} is `{}`; the only model_type that Lagoon runs is `laguna`", entry.about("model_type"), printable(*alias.model_type));
  }
  return alias;
}

std::vector<ModelAlias> read_aliases(const Section& top, const fs::path& home) {
  std::vector<ModelAlias> aliases;
  const Json* value = top.find("models");
  if (value == nullptr) return aliases;
  if (!value->is_object()) {
    fail(ErrorKind::invalid, "{} is {}, an object was needed such as {{\"s21\": {{\"model\": \"org/name\"}}}}", top.about("models"), shown(*value));
  }
  const Section models(*value, top.what(), "models");
  for (const auto& [name, entry] : value->items()) aliases.push_back(read_alias(name, entry, models, home));
  for (const ModelAlias& alias : aliases) {
    for (const ModelAlias& other : aliases) {
      if (lower_case(alias.model.substr(0, alias.model.find('@'))) != lower_case(other.name)) continue;
      fail(ErrorKind::invalid, "{} is `{}`, which is an alias itself; name the model that is meant", models.about(alias.name + ".model"),
           printable(alias.model));
    }
  }
  return aliases;
}

}  // namespace

ConfigFile parse_config_file(std::string_view text, const std::string& what, const fs::path& home) {
  const Json document = parse_json(text, what);
  const Section top(document, what, "", {"memory_limit", "reserve", "models_dirs", "models"});
  ConfigFile config;
  config.memory_limit = top.bytes("memory_limit");
  if (config.memory_limit == 0u) fail(ErrorKind::invalid, "{} is 0; leave it out where there is no limit", top.about("memory_limit"));
  config.reserve = top.bytes("reserve");
  config.models_dirs = read_models_dirs(top, home);
  config.aliases = read_aliases(top, home);
  return config;
}

ConfigFile read_config_file(const fs::path& path, bool needed, const fs::path& home) {
  const std::string what = printable(path.string(), 4096);
  std::error_code error;
  // Nobody named the usual place; where its folder lets nobody in, there are no settings for whoever asks. A file there that cannot be
  // read is another thing.
  if (!needed && fs::symlink_status(path, error).type() == fs::file_type::none && error == std::errc::permission_denied) return {};
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    if (!needed) return {};
    fail(ErrorKind::invalid, "{}: LAGOON_CONFIG names this file, and it is not there; write it, or unset LAGOON_CONFIG", what);
  }
  try {
    return parse_config_file(read_text(SystemFiles(), path, file_limit), what, home);
  } catch (const Error& failure) {
    // A file that cannot be read is a wrong setting as much as one that cannot be understood.
    throw Error(failure.kind() == ErrorKind::io ? ErrorKind::invalid : failure.kind(), failure.what());
  }
}

std::string config_file_help(const fs::path& path) {
  return fmt::format(
      "Config file: {} (LAGOON_CONFIG names another). Every key may be absent:\n"
      "  {{\"memory_limit\": \"48GiB\", \"reserve\": \"2GiB\", \"models_dirs\": [\"/data/models\"],\n"
      "   \"models\": {{\"s21\": {{\"model\": \"mlx-community/Laguna-S-2.1-oQ4e\", \"revision\": \"8e3f5cad\", \"model_type\": \"laguna\"}}}}}}\n"
      "An alias such as s21 is taken wherever MODEL is; it may pin a revision, and model_type counts instead of what the model's config.json says.",
      printable(path.string(), 4096));
}

}  // namespace lagoon
