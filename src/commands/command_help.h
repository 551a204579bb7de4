// command_help.h: what --help prints, made from the definitions of the command line.
#pragma once

#include "commands/command_line.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lagoon {

/// One line of a list of options.
struct HelpEntry {
  std::string names;  // "--temperature X"
  std::string text;   // what it does, with its default
};

/// Options that belong together.
struct HelpGroup {
  std::string title;  // "Sampling"
  std::vector<HelpEntry> entries;
};

/// Positionals first, then the groups in the order in which they were declared, those of every command last.
std::vector<HelpGroup> help_groups(const CLI::App& parser);

/// "lagoon generate [OPTIONS] MODEL [PROMPT]".
std::string usage_of(const CLI::App& parser);

/// The help of a command; nullptr: of the program. @param width  columns
/// @param config_file  named by the program's help and that of `models`
std::string help_text(const CommandLine& line, const Command* command, const std::filesystem::path& config_file, int width);

/// The environment variables that are read, each with what it is for.
std::vector<HelpEntry> environment_variables();

/// Exit codes, each with what it means.
std::vector<HelpEntry> exit_codes();

}  // namespace lagoon
