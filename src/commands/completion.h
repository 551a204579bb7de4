// completion.h: completion scripts for shells, made from the definitions of the command line. What is fixed (commands, flags, words that
// a flag takes) stands in the script; models are asked for with the hidden command model-names, which says nothing but names.
#pragma once

#include "commands/command_line.h"

#include <string>
#include <vector>

namespace lagoon {

/// What may stand at one place of a command line.
struct CompletedValue {
  enum class Kind { nothing, text, words, file, folder, model, known_model };
  Kind kind = Kind::nothing;  // nothing: a switch; known_model: also what is known without a download
  std::vector<std::string> words;
};

struct CompletedFlag {
  std::vector<std::string> names;  // with dashes
  std::string text;
  CompletedValue value;
  bool repeats = false;
};

struct CompletedCommand {
  std::string name;  // empty: the program itself
  std::string text;
  std::vector<CompletedFlag> flags;
  std::vector<std::string> argument_names;
  std::vector<CompletedValue> arguments;  // positionals
  bool last_repeats = false;
};

/// The program, then its commands.
std::vector<CompletedCommand> completed_commands(const CommandLine& line);

std::string bash_completion(const std::vector<CompletedCommand>& commands);
std::string zsh_completion(const std::vector<CompletedCommand>& commands);
std::string fish_completion(const std::vector<CompletedCommand>& commands);

/// In single quotes, as sh and zsh read it.
std::string shell_quoted(const std::string& text);

}  // namespace lagoon
