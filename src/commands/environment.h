// environment.h: everything that Lagoon takes from environment variables and from where the program stands. The one place
// that reads them.
#pragma once

#include "checkpoint/checkpoint.h"
#include "machine/available_memory.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lagoon {

struct Environment {
  std::string command_line;  // as it was typed, without the program's path
  CheckpointPlaces places;
  bool output_is_terminal = false;     // standard output
  bool colour = false;                 // it shows styles: NO_COLOR and TERM=dumb say no
  bool error_is_terminal = false;      // progress is shown on standard error
  bool input_is_terminal = false;      // somebody types
  bool moves_cursor = false;           // the terminal's TERM names one that can be drawn on
  std::filesystem::path home;          // empty: unknown
  std::filesystem::path state_folder;  // XDG_STATE_HOME/lagoon, else ~/.local/state/lagoon; empty: nothing is kept
  AvailableMemory memory;              // when the program began: a plan counts what the program then takes
  // Of the config file
  std::filesystem::path config_file;       // whether it is there or not
  std::filesystem::path artifacts_folder;  // beside it: the user's own files of known artifacts (checkpoint/artifact.h)
  std::optional<uint64_t> memory_limit;    // bytes
  std::optional<uint64_t> reserve;         // bytes
};

/// @throws Error for a config file that cannot be read or understood
Environment read_environment();

/// LAGOON_CONFIG, else XDG_CONFIG_HOME/lagoon/config.json, else ~/.config/lagoon/config.json.
std::filesystem::path config_file_path();

}  // namespace lagoon
