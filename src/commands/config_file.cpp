#include "commands/config_file.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "base/json.h"
#include "checkpoint/hugging_face_cache.h"
#include "checkpoint/known_models.h"
#include "commands/config_toml.h"
#include "machine/file.h"

#include <nlohmann/json.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <system_error>

namespace lagoon {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t file_limit = 1 << 20;  // bytes
constexpr size_t longest_alias = 96;      // bytes

std::string shown(const Json& value) { return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60); }

/// Which file is read, and the lines of its keys.
struct Source {
  std::string what;
  std::map<std::string, int> lines;

  /// "config.toml, line 3", as far as the line is known.
  std::string place(const std::string& key) const {
    const auto line = lines.find(key);
    return line == lines.end() ? what : fmt::format("{}, line {}", what, line->second);
  }
};

/// One object of the file and where it stands: "config.json: `models.s21`".
class Section {
 public:
  /// An object whose keys are names of the user's.
  Section(const Json& object, const Source& source, std::string inside) : object_(object), source_(source), inside_(std::move(inside)) {}

  Section(const Json& object, const Source& source, std::string inside, std::initializer_list<std::string_view> keys)
      : Section(object, source, std::move(inside)) {
    if (!object_.is_object()) {
      fail(ErrorKind::invalid, "{} is {}, an object was needed with some of the keys {}",
           inside_.empty() ? source.what + ": the document" : fmt::format("{}: `{}`", source.place(inside_), printable(inside_)), shown(object_),
           fmt::join(keys, ", "));
    }
    const bool top = inside_.empty();
    for (const auto& [key, value] : object_.items()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      if (top && value.is_object()) continue;  // the flags of a command
      fail(ErrorKind::invalid, "{} is no key that Lagoon knows; known are {}{}", about(key), fmt::join(keys, ", "),
           top ? ", and sections named after commands: tables with the defaults of their flags" : "");
    }
  }

  std::string about(std::string_view key) const {
    const std::string whole = fmt::format("{}{}{}", inside_, inside_.empty() ? "" : ".", key);
    return fmt::format("{}: `{}{}{}`", source_.place(whole), printable(inside_), inside_.empty() ? "" : ".", printable(key));
  }
  const Source& source() const { return source_; }

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
  const Source& source_;
  std::string inside_;
};

bool is_path(const std::string& text) { return text.starts_with("/") || text.starts_with("~/") || text == "~"; }

std::vector<fs::path> read_models_dirs(const Section& top, const fs::path& home) {
  const Json* list = top.find("models_dirs");
  std::vector<fs::path> directories;
  if (list == nullptr) return directories;
  const std::string about = top.about("models_dirs");
  if (!list->is_array()) fail(ErrorKind::invalid, "{} is {}, a list of folders such as [\"/data/models\"] was needed", about, shown(*list));
  for (const Json& entry : *list) directories.push_back(settled_path(Section::text_of(entry, about, "a list of folders"), about, home));
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
  const Section entry(value, models.source(), "models." + name, {"model", "revision", "model_type"});
  ModelAlias alias;
  alias.name = name;
  const auto model = entry.text("model", "a folder or the name of a model");
  if (!model) fail(ErrorKind::invalid, "{} is missing; an alias needs a folder or the name of a model", entry.about("model"));
  alias.model = *model;
  const bool relative = model->starts_with("./") || model->starts_with("../") || *model == "." || *model == "..";
  if (is_path(*model) || relative) alias.model = settled_path(*model, entry.about("model"), home).string();
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
  const Section models(*value, top.source(), "models");
  for (const auto& [name, entry] : value->items()) aliases.push_back(read_alias(name, entry, models, home));
  std::set<std::string> names;
  for (const ModelAlias& alias : aliases) names.insert(lower_case(alias.name));
  for (const ModelAlias& alias : aliases) {
    if (!names.contains(lower_case(alias.model.substr(0, alias.model.find('@'))))) continue;
    fail(ErrorKind::invalid, "{} is `{}`, which is an alias itself; name the model that is meant", models.about(alias.name + ".model"),
         printable(alias.model));
  }
  return aliases;
}

std::optional<ConfiguredFlag::Kind> kind_of(const Json& value) {
  if (value.is_string()) return ConfiguredFlag::Kind::text;
  if (value.is_boolean()) return ConfiguredFlag::Kind::truth;
  if (value.is_number()) return ConfiguredFlag::Kind::number;
  return std::nullopt;
}

ConfiguredFlag read_flag(const std::string& section, const std::string& key, const Json& value, const Section& entries) {
  ConfiguredFlag flag = {.section = section, .key = key, .list = value.is_array(), .about = entries.about(key)};
  const auto line = entries.source().lines.find(section + "." + key);
  if (line != entries.source().lines.end()) flag.line = line->second;
  constexpr const char* needed = "a string, a number, true, false, or a list of one of these was needed";
  const auto add = [&](const Json& item) {
    const auto kind = kind_of(item);
    if (!kind) fail(ErrorKind::invalid, "{} is {}; {}", flag.about, shown(value), needed);
    if (!flag.values.empty() && *kind != flag.kind)
      fail(ErrorKind::invalid, "{} is {}, a list of values of one kind was needed", flag.about, shown(value));
    flag.kind = *kind;
    flag.values.push_back(item.is_string() ? item.get<std::string>() : item.dump());
    if (flag.values.back().find('\0') != std::string::npos)
      fail(ErrorKind::invalid, "{} is {}, text without a NUL was needed", flag.about, shown(value));
  };
  if (!flag.list) {
    add(value);
    return flag;
  }
  if (value.empty()) fail(ErrorKind::invalid, "{} is an empty list; leave the key out", flag.about);
  for (const Json& item : value) add(item);
  return flag;
}

/// Sections of commands, with what their flags are to be.
void read_flags(const Json& document, const Section& top, ConfigFile& config) {
  for (const auto& [name, object] : document.items()) {
    if (!object.is_object() || name == "models") continue;
    config.sections.emplace_back(name, top.about(name));
    const Section entries(object, top.source(), name);
    std::map<std::string, std::string> keys;  // by flag: max_tokens and max-tokens are one
    for (const auto& [key, value] : object.items()) {
      config.flags.push_back(read_flag(name, key, value, entries));
      const auto [first, added] = keys.emplace(config.flags.back().flag(), key);
      if (added) continue;
      fail(ErrorKind::invalid, "{} is set twice, as `{}` and as `{}`; leave one out", entries.about(key), printable(first->second), printable(key));
    }
  }
}

}  // namespace

std::string ConfiguredFlag::flag() const {
  std::string name = key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string ConfiguredFlag::shown() const {
  std::vector<std::string> items;
  for (const std::string& value : values) items.push_back(kind == Kind::text ? fmt::format("\"{}\"", printable(value, 60)) : value);
  return list ? fmt::format("[{}]", fmt::join(items, ", ")) : items.front();
}

fs::path settled_path(const std::string& text, const std::string& about, const fs::path& home) {
  if (text.starts_with("/")) return text;
  if (is_path(text) && !home.empty()) return text == "~" ? home : home / text.substr(2);
  fail(ErrorKind::invalid, "{} is `{}`, a path from / or ~/ on was needed", about, printable(text));
}

ConfigFile parse_config_file(std::string_view text, const std::string& what, const fs::path& home) {
  const bool json = what.ends_with(".json");
  TomlText read = json ? TomlText{.document = parse_json(text, what)} : read_toml(text, what);
  const Json document = std::move(read.document);
  const Source source = {what, std::move(read.lines)};
  const Section top(document, source, "", {"memory_limit", "reserve", "models_dirs", "models"});
  ConfigFile config;
  config.memory_limit = top.bytes("memory_limit");
  if (config.memory_limit == 0u) fail(ErrorKind::invalid, "{} is 0; leave it out where there is no limit", top.about("memory_limit"));
  config.reserve = top.bytes("reserve");
  config.models_dirs = read_models_dirs(top, home);
  config.aliases = read_aliases(top, home);
  read_flags(document, top, config);
  config.lines = source.lines;
  return config;
}

ConfigFile read_config_file(const fs::path& path, bool needed, const fs::path& home) {
  const std::string what = printable_path(path);
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

std::string config_file_help() {
  return "memory_limit = \"48GiB\"\n"
         "reserve = \"2GiB\"\n"
         "models_dirs = [\"/data/models\"]\n"
         "\n"
         "[models.s21]\n"
         "model = \"mlx-community/Laguna-S-2.1-oQ4e\"\n"
         "revision = \"8e3f5cad\"\n"
         "model_type = \"laguna\"\n"
         "\n"
         "[defaults]\n"
         "threads = 4\n"
         "\n"
         "[generate]\n"
         "temperature = 0.7\n";
}

}  // namespace lagoon
