// standing_defaults.h: the flags that the config file sets: checked by the definitions of the flags themselves, and given to the command
// that runs as if they had been typed, unless they were.
#pragma once

#include "commands/command_line.h"
#include "commands/config_file.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lagoon {

/// A flag of the command that runs, as the config file sets it.
struct StandingDefault {
  std::string flag;   // "--temperature"
  std::string shown;  // 0.7
  std::string about;  // "config.toml, line 3: `generate.temperature`"
};

/// Every section of the file against every command. @param home  the folder that ~/ stands for
/// @throws Error(invalid) naming file, line and key: for what is no command or flag, with those that are; for flags that belong to one run;
/// for values that the flag does not take
void check_standing_defaults(const ConfigFile& config, const std::filesystem::path& home);

/// Puts them into a command line that is not yet parsed. Those of the command's own section come before those of [defaults]; a flag that
/// was typed, and one that a typed flag excludes, is left alone.
/// @param typed   the same words, parsed
/// @param config  checked
std::vector<StandingDefault> apply_standing_defaults(const ConfigFile& config, const CommandLine& typed, const std::filesystem::path& home,
                                                     CommandLine& fresh);

/// Each flag that can have a standing default, as "generate.temperature", with its value and "built-in" or the file and line that set it.
std::vector<Setting> flag_settings(const ConfigFile& config, const std::filesystem::path& home, const std::filesystem::path& file);

/// Why a flag cannot have a standing default; empty: it can.
std::string reason_for_no_default(const CLI::Option& option);

}  // namespace lagoon
