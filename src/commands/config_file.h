// config_file.h: the user's own settings, in TOML:
//   memory_limit = "48GiB"
//   reserve = "2GiB"
//   models_dirs = ["/data/models"]
//   [models.s21]                  an alias; may pin a revision of the Hugging Face cache, and say what the model_type is where
//   model = "mlx-community/Laguna-S-2.1-oQ4e"                                         config.json of the model says something odd
//   revision = "8e3f5cad"
//   model_type = "laguna"
//   [defaults]                    of the flags of every command that has them
//   threads = 4
//   [generate]                    of the flags of this command
//   temperature = 0.7
// Every key may be absent. A file whose name ends in .json holds one JSON object with the same keys.
#pragma once

#include "checkpoint/model_catalog.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// A flag that a section of the config file sets. What flags there are is not known here: standing_defaults.h compares.
struct ConfiguredFlag {
  enum class Kind { text, number, truth };
  std::string section;              // a command, or "defaults"
  std::string key;                  // as it is written
  std::vector<std::string> values;  // "true" or "false" of a truth value
  Kind kind = Kind::text;           // of all values
  bool list = false;
  std::string about;  // "config.toml, line 3: `generate.temperature`", which begins each sentence about it
  int line = 0;       // 0: not known

  /// "temperature", with dashes as the flag has them.
  std::string flag() const;
  /// The value as it was written, more or less.
  std::string shown() const;
};

struct ConfigFile {
  std::optional<uint64_t> memory_limit;  // bytes
  std::optional<uint64_t> reserve;       // bytes
  std::vector<std::filesystem::path> models_dirs;
  std::vector<ModelAlias> aliases;
  std::vector<ConfiguredFlag> flags;                          // in the order of their sections
  std::vector<std::pair<std::string, std::string>> sections;  // each with how a sentence about it begins
  std::map<std::string, int> lines;                           // of keys such as "models.s21"; empty for JSON
};

/// TOML, or JSON where `what` ends in .json. Pure.
/// @param what  the file, which begins each sentence
/// @param home  the folder that ~/ stands for; empty: there is none
/// @throws Error(invalid) or Error(corrupt), naming line and key, what was found and what is understood
ConfigFile parse_config_file(std::string_view text, const std::string& what, const std::filesystem::path& home);

/// @param needed  whether it is an error that there is no such file; without it an absent file says nothing, nor does one in a folder
///                without permission
/// @throws as parse_config_file, and Error(invalid) for a file that cannot be read
ConfigFile read_config_file(const std::filesystem::path& path, bool needed, const std::filesystem::path& home);

/// A path that means the same from wherever Lagoon is started: from / or ~/ on. @throws Error(invalid)
std::filesystem::path settled_path(const std::string& text, const std::string& about, const std::filesystem::path& home);

/// What the file may hold, for help and manual pages.
std::string config_file_help();

}  // namespace lagoon
