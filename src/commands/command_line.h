// command_line.h: the definitions of everything that may be typed behind `lagoon`, declared once: parsing, help, completion, manual pages
// and the config file all read them.
#pragma once

#include "commands/command.h"
#include "commands/console.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace lagoon {

/// The flags that stand before or behind the command.
struct GlobalFlags {
  bool quiet = false;
  bool verbose = false;
  std::string log_file;
  std::vector<std::string> models_dirs;
};

class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// What parsing comes to.
  enum class Outcome { fine, help, version };

  /// @throws Error(invalid) for what cannot be understood, in one sentence with the nearest known name. To be called once.
  Outcome parse(int count, char** arguments);

  const CLI::App& program() const { return program_; }
  const std::vector<Command>& commands() const { return commands_; }

  /// The command of this name; nullptr if there is none.
  const Command* find(std::string_view name) const;

  /// The command that was typed; nullptr if none was.
  const Command* chosen() const;

  /// What was typed, as far as it was read when parsing ended: before and behind the command together.
  /// @throws Error(invalid) for --quiet beside --verbose, and two log files
  GlobalFlags global_flags() const;

 private:
  std::string refusal(const CLI::ParseError& error) const;

  CLI::App program_;
  std::vector<Command> commands_;
  GlobalFlags bound_;  // what the parser fills; global_flags() says what it means
};

/// Whether help, completion and manual pages show it.
bool is_shown(const CLI::App& command);
bool is_shown(const CLI::Option& option);

/// "--temperature": the long name, else the short one, else the name of a positional.
std::string name_of(const CLI::Option& option);

/// The words that an option takes: "on|off" gives on and off; empty for a free value.
std::vector<std::string> choices_of(const CLI::Option& option);

/// Whether it takes no value.
bool is_switch(const CLI::Option& option);

/// What stands for its value in help: "on|off", "FILE", "N", ...; empty for a switch.
std::string placeholder_of(const CLI::Option& option);

/// The parser names the flag before a sentence that may begin with it: "--threads: --threads 0: ..." is "--threads 0: ...".
std::string said_once(const std::string& message);

/// "; did you mean `NAME`?" where one of the names is near, else empty.
std::string did_you_mean(const std::string& typed, const std::vector<std::string>& names);

}  // namespace lagoon
