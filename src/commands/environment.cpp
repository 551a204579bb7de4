#include "commands/environment.h"

#include "commands/config_file.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace lagoon {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// As huggingface_hub: HF_HUB_CACHE, else HF_HOME/hub, else ~/.cache/huggingface/hub (XDG_CACHE_HOME instead of ~/.cache).
std::filesystem::path hub_cache() {
  if (const std::string cache = variable("HF_HUB_CACHE"); !cache.empty()) return cache;
  if (const std::string home = variable("HF_HOME"); !home.empty()) return std::filesystem::path(home) / "hub";
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return std::filesystem::path(cache) / "huggingface/hub";
  const std::string home = variable("HOME");
  return std::filesystem::path(home.empty() ? "/" : home) / ".cache/huggingface/hub";
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

}  // namespace

std::filesystem::path config_file_path() {
  if (const std::string file = variable("LAGOON_CONFIG"); !file.empty()) return file;
  // The XDG specification has relative paths passed over.
  if (const std::string config = variable("XDG_CONFIG_HOME"); config.starts_with("/")) return std::filesystem::path(config) / "lagoon/config.json";
  const std::string home = variable("HOME");
  return std::filesystem::path(home.empty() ? "/" : home) / ".config/lagoon/config.json";
}

Environment read_environment() {
  Environment environment;
  environment.memory = read_available_memory();
  environment.config_file = config_file_path();
  ConfigFile config = read_config_file(environment.config_file, !variable("LAGOON_CONFIG").empty(), variable("HOME"));
  environment.artifacts_folder = environment.config_file.parent_path() / "artifacts";
  environment.memory_limit = config.memory_limit;
  environment.reserve = config.reserve;
  environment.places = {.hub_cache = hub_cache(),
                        .shipped_models = shipped_models(),
                        .models_dirs = std::move(config.models_dirs),
                        .aliases = std::move(config.aliases)};
  environment.output_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  environment.colour = environment.output_is_terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  environment.error_is_terminal = ::isatty(STDERR_FILENO) == 1;
  environment.input_is_terminal = ::isatty(STDIN_FILENO) == 1;
  environment.moves_cursor = !variable("TERM").empty() && variable("TERM") != "dumb";
  environment.home = variable("HOME");
  environment.state_folder = state_folder();
  return environment;
}

}  // namespace lagoon
