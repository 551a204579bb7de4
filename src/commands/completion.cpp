// completion: scripts that make shells complete lagoon's command line, and the names of models for them.
#include "commands/completion.h"

#include "base/error.h"
#include "commands/config_file.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "planning/published_models.h"

#include "checkpoint/artifact.h"

#include <algorithm>
#include <set>

namespace lagoon {
namespace {

using Kind = CompletedValue::Kind;

CompletedValue value_of(const CLI::Option& option, const std::string& command) {
  if (option.nonpositional() && is_switch(option)) return {Kind::nothing, {}};
  if (const std::vector<std::string> words = choices_of(option); !words.empty()) return {Kind::words, words};
  const std::string type = option.get_type_name();
  if (type == "FILE") return {Kind::file, {}};
  if (type == "DIR") return {Kind::folder, {}};
  if (option.get_positional() && option.get_name(true, false) == "MODEL") {
    const std::set<std::string> of_headers = {"plan", "facts", "kv", "compare", "inspect"};
    return {of_headers.contains(command) ? Kind::known_model : Kind::model, {}};
  }
  return {Kind::text, {}};
}

CompletedCommand completed(const CLI::App& parser, const std::string& name) {
  CompletedCommand command = {.name = name, .text = parser.get_description()};
  for (const CLI::Option* option : parser.get_options()) {
    if (!is_shown(*option)) continue;
    if (option->get_positional()) {
      command.argument_names.push_back(option->get_name(true, false));
      command.arguments.push_back(value_of(*option, name));
      command.last_repeats = option->get_expected_max() > 1;
      continue;
    }
    CompletedFlag flag = {.text = option->get_description(), .value = value_of(*option, name), .repeats = option->get_expected_max() > 1};
    for (const std::string& letter : option->get_snames()) flag.names.push_back("-" + letter);
    for (const std::string& word : option->get_lnames()) flag.names.push_back("--" + word);
    command.flags.push_back(std::move(flag));
  }
  return command;
}

bool is_plain(const std::string& name) {
  return !name.empty() &&
         std::none_of(name.begin(), name.end(), [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; });
}

/// A config file that cannot be read sets nothing: whoever presses a key wants no error.
ConfigFile config_or_nothing() {
  try {
    return read_user_config();
  } catch (const Error&) {
    return {};
  }
}

struct NameFlags {
  bool known = false;
  std::vector<std::string> models_dirs;
};

int print_names(const NameFlags& flags, const CLI::App& parser) {
  GlobalFlags none;
  Environment environment = read_environment(config_or_nothing(), none, Console());
  // As words of the command line, so that a folder that is not there is passed over.
  std::vector<std::string> directories = parser.get_parent()->get_option("--models-dir")->results();
  const std::vector<std::string> behind = parser.get_option("--models-dir")->results();
  directories.insert(directories.end(), behind.begin(), behind.end());
  environment.places.models_dirs.insert(environment.places.models_dirs.begin(), directories.begin(), directories.end());
  std::set<std::string> names;
  for (const ModelLocation& location : list_models(environment.places)) {
    if (location.problem.empty()) names.insert(location.alias.empty() ? location.name : location.alias);
  }
  if (flags.known) {
    std::vector<std::string> problems;
    for (const Artifact& artifact : known_artifacts(environment.artifacts_folder, problems)) names.insert(artifact.name);
    for (const PublishedModel& model : published_models()) names.insert(model.id);
  }
  for (const std::string& name : names) {
    if (is_plain(name)) write_output(name + "\n");
  }
  return 0;
}

}  // namespace

std::vector<CompletedCommand> completed_commands(const CommandLine& line) {
  std::vector<CompletedCommand> commands = {completed(line.program(), "")};
  for (const Command& command : line.commands()) {
    if (is_shown(*command.parser)) commands.push_back(completed(*command.parser, command.parser->get_name()));
  }
  std::vector<std::string> names;
  for (size_t at = 1; at < commands.size(); ++at) names.push_back(commands[at].name);
  for (CompletedCommand& command : commands) {
    for (size_t at = 0; at < command.arguments.size(); ++at) {
      if (command.argument_names[at] == "COMMAND") command.arguments[at] = {Kind::words, names};
    }
  }
  return commands;
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

Command declare_completion(CLI::App& program, const CommandLine& line) {
  CLI::App* parser = program.add_subcommand("completion", "Print the script by which a shell completes commands, flags, files and models");
  auto shell = std::make_shared<std::string>();
  one_of(parser->add_option("SHELL", *shell, "the shell that is to read it"), {"bash", "zsh", "fish"})->required();
  return {
      parser,
      [shell, &line](const Environment&) {
        const std::vector<CompletedCommand> commands = completed_commands(line);
        write_output(*shell == "bash" ? bash_completion(commands) : *shell == "zsh" ? zsh_completion(commands) : fish_completion(commands));
        return 0;
      },
      {{"lagoon completion bash > lagoon.bash && . ./lagoon.bash", "for this bash; a file in ~/.local/share/bash-completion/completions serves all"},
       {"lagoon completion zsh > _lagoon", "for zsh: a file of this name in a folder of $fpath"},
       {"lagoon completion fish > lagoon.fish", "for fish: a file in ~/.config/fish/completions"}},
      false};
}

Command declare_model_names(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("model-names", "The names of models, for completion scripts");
  parser->group("");
  auto flags = std::make_shared<NameFlags>();
  parser->add_flag("--known", flags->known, "also what is known without a download");
  return {parser, [flags, parser](const Environment&) { return print_names(*flags, *parser); }, {}, false};
}

}  // namespace lagoon
