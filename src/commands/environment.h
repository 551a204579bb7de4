// environment.h: everything that Lagoon takes from environment variables and from where the program stands. This and terminal.h are the
// places that read them.
#pragma once

#include "checkpoint/checkpoint.h"
#include "commands/console.h"
#include "machine/available_memory.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

struct ConfigFile;
struct GlobalFlags;

/// A value, and what decided it.
struct Setting {
  std::string name;
  std::string value;
  std::string origin;  // "built-in", "NO_COLOR", "/home/me/.config/lagoon/config.toml, line 3", "command line"
};

/// Where the config file is.
struct ConfigPlace {
  std::filesystem::path file;    // whether it is there or not
  std::string origin;            // LAGOON_CONFIG, XDG_CONFIG_HOME, HOME
  std::filesystem::path second;  // a config.json beside the config.toml; empty: there is none

  /// @throws Error(invalid) if there are two files
  void check() const;
};

struct Environment {
  std::string command_line;  // as it was typed, without the program's path
  Console console;           // notes, warnings and details
  CheckpointPlaces places;
  bool output_is_terminal = false;     // standard output
  bool colour = false;                 // it shows styles: NO_COLOR and TERM=dumb say no
  bool error_is_terminal = false;      // progress is shown on standard error: a terminal that can, without --quiet
  bool input_is_terminal = false;      // somebody types
  bool moves_cursor = false;           // the terminal's TERM names one that can be drawn on
  std::filesystem::path home;          // empty: unknown
  std::filesystem::path state_folder;  // XDG_STATE_HOME/lagoon, else ~/.local/state/lagoon; empty: nothing is kept
  AvailableMemory memory;              // when the program began: a plan counts what the program then takes
  std::vector<Setting> settings;       // each with its origin, for `lagoon config`
  // Of the config file
  std::filesystem::path config_file;       // whether it is there or not
  std::filesystem::path artifacts_folder;  // beside it: the user's own files of known artifacts (checkpoint/artifact.h)
  std::optional<uint64_t> memory_limit;    // bytes
  std::optional<uint64_t> reserve;         // bytes
};

/// LAGOON_CONFIG, else XDG_CONFIG_HOME/lagoon/config.toml, else ~/.config/lagoon/config.toml; in the last two a config.json counts where
/// there is no config.toml.
ConfigPlace find_config_place();

/// The settings of the user. @throws Error for a config file that cannot be read or understood
ConfigFile read_user_config();

/// The folder of ~/; empty: there is none.
std::filesystem::path home_folder();

/// @param flags  of the command line. @throws Error(invalid) for a --models-dir that is no folder
Environment read_environment(const ConfigFile& config, const GlobalFlags& flags, const Console& console);

}  // namespace lagoon
