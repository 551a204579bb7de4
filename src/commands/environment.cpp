#include "commands/environment.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "commands/command_line.h"
#include "commands/config_file.h"
#include "commands/model_options.h"
#include "machine/file.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace lagoon {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Place {
  std::filesystem::path path;
  std::string origin;
};

/// As huggingface_hub: HF_HUB_CACHE, else HF_HOME/hub, else ~/.cache/huggingface/hub (XDG_CACHE_HOME instead of ~/.cache).
Place hub_cache() {
  if (const std::string cache = variable("HF_HUB_CACHE"); !cache.empty()) return {cache, "HF_HUB_CACHE"};
  if (const std::string home = variable("HF_HOME"); !home.empty()) return {std::filesystem::path(home) / "hub", "HF_HOME"};
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
    return {std::filesystem::path(cache) / "huggingface/hub", "XDG_CACHE_HOME"};
  const std::string home = variable("HOME");
  return {std::filesystem::path(home.empty() ? "/" : home) / ".cache/huggingface/hub", "built-in"};
}

/// models/ beside an installed program (../share/lagoon), else that of the source tree it was built from.
std::filesystem::path shipped_models() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    std::filesystem::path installed = program.parent_path().parent_path() / "share/lagoon/models";
    if (std::filesystem::is_directory(installed, error)) return installed;
  }
  return std::filesystem::path(LAGOON_SOURCE_DIR) / "models";
}

/// Relative paths are passed over, as the XDG specification has it.
std::filesystem::path state_folder() {
  if (const std::string state = variable("XDG_STATE_HOME"); state.starts_with("/")) return std::filesystem::path(state) / "lagoon";
  const std::string home = variable("HOME");
  return home.starts_with("/") ? std::filesystem::path(home) / ".local/state/lagoon" : std::filesystem::path();
}

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::not_found && !error;
}

ConfigPlace place_in(const std::filesystem::path& folder, const std::string& origin) {
  ConfigPlace place = {.file = folder / "config.toml", .origin = origin};
  const std::filesystem::path json = folder / "config.json";
  if (!is_there(json)) return place;
  (is_there(place.file) ? place.second : place.file) = json;
  return place;
}

/// Why standard output has no styles, or has them.
std::string colour_origin(bool terminal) {
  if (!variable("NO_COLOR").empty()) return "NO_COLOR";
  if (variable("TERM") == "dumb") return "TERM";
  return terminal ? "built-in" : "standard output is no terminal";
}

std::string progress_origin(bool quiet) {
  if (quiet) return "--quiet";
  if (variable("TERM") == "dumb") return "TERM";
  return ::isatty(STDERR_FILENO) == 1 ? "built-in" : "standard error is no terminal";
}

/// Names a key of the config file with its line.
class Origins {
 public:
  Origins(const ConfigFile& config, const std::filesystem::path& file) : config_(config), file_(printable_path(file)) {}
  std::string of(const std::string& key) const {
    const auto line = config_.lines.find(key);
    return line == config_.lines.end() ? file_ : fmt::format("{}, line {}", file_, line->second);
  }

 private:
  const ConfigFile& config_;
  std::string file_;
};

std::string describe_alias(const ModelAlias& alias) {
  std::string text = alias.model;
  if (alias.revision) text += "@" + *alias.revision;
  if (alias.model_type) text += ", model_type " + *alias.model_type;
  return printable(text, 4096);
}

std::vector<Setting> settings_of(const Environment& environment, const ConfigFile& config, const GlobalFlags& flags, const Place& cache) {
  const Origins origins(config, environment.config_file);
  std::vector<Setting> settings;
  settings.push_back({"config_file", printable_path(environment.config_file), find_config_place().origin});
  settings.push_back({"memory_limit", config.memory_limit ? format_bytes(*config.memory_limit) : "what the machine and its limits leave",
                      config.memory_limit ? origins.of("memory_limit") : "built-in"});
  settings.push_back({"reserve", config.reserve ? format_bytes(*config.reserve) : "a sixteenth of the machine's memory, at most 1 GiB",
                      config.reserve ? origins.of("reserve") : "built-in"});
  for (const std::string& directory : flags.models_dirs) settings.push_back({"models_dirs", printable(directory, 4096), "command line"});
  for (const std::filesystem::path& directory : config.models_dirs)
    settings.push_back({"models_dirs", printable_path(directory), origins.of("models_dirs")});
  if (flags.models_dirs.empty() && config.models_dirs.empty()) settings.push_back({"models_dirs", "none", "built-in"});
  for (const ModelAlias& alias : config.aliases)
    settings.push_back({"models." + alias.name, describe_alias(alias), origins.of("models." + alias.name)});
  settings.push_back({"hub_cache", printable_path(cache.path), cache.origin});
  settings.push_back({"shipped_models", printable_path(environment.places.shipped_models), "built-in"});
  settings.push_back({"artifacts_folder", printable_path(environment.artifacts_folder), "beside the config file"});
  settings.push_back({"colour", environment.colour ? "on" : "off", colour_origin(environment.output_is_terminal)});
  settings.push_back({"progress", environment.error_is_terminal ? "on" : "off", progress_origin(flags.quiet)});
  return settings;
}

}  // namespace

void ConfigPlace::check() const {
  if (second.empty()) return;
  fail(ErrorKind::invalid,
       "{} and {} are both there, and one config file was needed; move what you want to keep into the first and remove the second",
       printable_path(file), printable_path(second));
}

ConfigPlace find_config_place() {
  if (const std::string file = variable("LAGOON_CONFIG"); !file.empty()) return {file, "LAGOON_CONFIG", {}};
  // The XDG specification has relative paths passed over.
  if (const std::string config = variable("XDG_CONFIG_HOME"); config.starts_with("/"))
    return place_in(std::filesystem::path(config) / "lagoon", "XDG_CONFIG_HOME");
  const std::string home = variable("HOME");
  return place_in(std::filesystem::path(home.empty() ? "/" : home) / ".config/lagoon", "built-in");
}

std::filesystem::path home_folder() { return variable("HOME"); }

ConfigFile read_user_config() {
  const ConfigPlace place = find_config_place();
  place.check();
  return read_config_file(place.file, place.origin == "LAGOON_CONFIG", home_folder());
}

Environment read_environment(const ConfigFile& config, const GlobalFlags& flags, const Console& console) {
  Environment environment;
  environment.console = console;
  environment.memory = read_available_memory();
  environment.config_file = find_config_place().file;
  environment.artifacts_folder = environment.config_file.parent_path() / "artifacts";
  environment.memory_limit = config.memory_limit;
  environment.reserve = config.reserve;
  const Place cache = hub_cache();
  environment.places = {.hub_cache = cache.path, .shipped_models = shipped_models(), .models_dirs = config.models_dirs, .aliases = config.aliases};
  use_models_dirs(flags.models_dirs, environment.places);
  const bool dumb = variable("TERM") == "dumb";
  environment.output_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  environment.colour = environment.output_is_terminal && variable("NO_COLOR").empty() && !dumb;
  environment.error_is_terminal = ::isatty(STDERR_FILENO) == 1 && !dumb && !flags.quiet;
  environment.input_is_terminal = ::isatty(STDIN_FILENO) == 1;
  environment.moves_cursor = !variable("TERM").empty() && !dumb;
  environment.home = home_folder();
  environment.state_folder = state_folder();
  environment.settings = settings_of(environment, config, flags, cache);
  return environment;
}

}  // namespace lagoon
