#include "commands/command_help.h"

#include "base/error.h"
#include "commands/config_file.h"
#include "commands/terminal.h"
#include "machine/file.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace lagoon {
namespace {

constexpr const char* last_group = "Of every command";

std::string capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

/// "--chunk, --prefill-chunk N".
std::string names_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true, false);
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  const std::string placeholder = placeholder_of(option);
  if (!placeholder.empty()) text += " " + placeholder;
  if (option.get_expected_min() == 2) text += " " + placeholder;  // two of them
  return text;
}

std::string text_of(const CLI::Option& option) {
  std::string text = option.get_description();
  if (!option.get_default_str().empty()) text += fmt::format(" (default: {})", option.get_default_str());
  if (option.get_required() && option.nonpositional()) text += " (needed)";
  return text;
}

std::string title_of(const CLI::Option& option) {
  if (option.get_positional()) return "Arguments";
  return option.get_group() == "Options" ? "Options" : option.get_group();
}

void append_wrapped(std::string& text, std::string_view paragraph, int width, int indent) {
  for (const std::string& line : wrapped(paragraph, width - indent))
    text += line.empty() ? "\n" : std::string(static_cast<size_t>(indent), ' ') + line + "\n";
}

/// Names on the left, what they do beside them, or below where there is no room.
void append_entries(std::string& text, const std::vector<HelpEntry>& entries, int width) {
  const int left = std::min(30, width / 2);
  for (const HelpEntry& entry : entries) {
    std::string line = "  " + entry.names;
    std::vector<std::string> lines = wrapped(entry.text, width - left);
    if (terminal_width(line) + 2 > left) {
      text += line + "\n";
      line.clear();
    }
    for (const std::string& part : lines) {
      line.resize(std::max(line.size(), static_cast<size_t>(left)), ' ');
      text += line + part + "\n";
      line.clear();
    }
  }
}

void append_config_file(std::string& text, const std::filesystem::path& file, int width) {
  text += "\nConfig file (each key may be absent; LAGOON_CONFIG names another file):\n  " + printable_path(file) + "\n\n";
  for (const std::string& line : wrapped(config_file_help(), 1 << 20)) text += line.empty() ? "\n" : "  " + line + "\n";
  append_wrapped(
      text,
      "An alias such as s21 is taken wherever MODEL is; it may pin a revision, and model_type counts instead of what the model's config.json "
      "says. A section named after a command sets the defaults of its flags, [defaults] those of every command that has them; flags that are "
      "typed win. `lagoon config` shows what holds.",
      width, 0);
}

std::string program_help(const CommandLine& line, const std::filesystem::path& config_file, int width) {
  std::string text;
  append_wrapped(text, line.program().get_description(), width, 0);
  text += "\nUsage: " + usage_of(line.program()) + "\n\nCommands:\n";
  std::vector<HelpEntry> commands;
  for (const Command& command : line.commands()) {
    if (is_shown(*command.parser)) commands.push_back({command.parser->get_name(), command.parser->get_description()});
  }
  append_entries(text, commands, width);
  for (const HelpGroup& group : help_groups(line.program())) {
    text += "\n" + group.title + ":\n";
    append_entries(text, group.entries, width);
  }
  text += "\nExamples:\n  lagoon generate nano \"What is 17 * 24?\"\n  lagoon models\n";
  append_config_file(text, config_file, width);
  text += "\n`lagoon COMMAND --help` says more of a command, `lagoon man COMMAND | man -l -` its manual page.\n";
  return text;
}

}  // namespace

std::vector<HelpGroup> help_groups(const CLI::App& parser) {
  std::vector<HelpGroup> groups;
  for (const CLI::Option* option : parser.get_options()) {
    if (!is_shown(*option)) continue;
    const std::string title = title_of(*option);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const HelpGroup& one) { return one.title == title; });
    if (group == groups.end()) group = groups.insert(title == "Arguments" ? groups.begin() : groups.end(), {title, {}});
    group->entries.push_back({names_of(*option), text_of(*option)});
  }
  std::stable_partition(groups.begin(), groups.end(), [](const HelpGroup& group) { return group.title != last_group; });
  return groups;
}

std::string usage_of(const CLI::App& parser) {
  if (parser.get_parent() == nullptr) return "lagoon [OPTIONS] COMMAND ...";
  std::string usage = "lagoon " + parser.get_name() + " [OPTIONS]";
  for (const CLI::Option* option : parser.get_options([](const CLI::Option* each) { return each->get_positional() && is_shown(*each); })) {
    const std::string name = option->get_name(true, false) + (option->get_expected_max() > 1 ? "..." : "");
    usage += option->get_required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

std::string help_text(const CommandLine& line, const Command* command, const std::filesystem::path& config_file, int width) {
  if (command == nullptr) return program_help(line, config_file, width);
  const CLI::App& parser = *command->parser;
  std::string text;
  append_wrapped(text, parser.get_description() + ".", width, 0);
  text += "\nUsage: " + usage_of(parser) + "\n";
  for (const HelpGroup& group : help_groups(parser)) {
    text += "\n" + group.title + ":\n";
    append_entries(text, group.entries, width);
  }
  if (!command->examples.empty()) text += "\nExamples:\n";
  for (const Example& example : command->examples) {
    append_wrapped(text, capital(example.says) + ":", width, 2);
    text += "    " + example.line + "\n";
  }
  if (parser.get_name() == "models" || parser.get_name() == "config") append_config_file(text, config_file, width);
  return text;
}

std::vector<HelpEntry> environment_variables() {
  return {{"LAGOON_CONFIG", "the config file, instead of the one of XDG_CONFIG_HOME"},
          {"XDG_CONFIG_HOME", "the folder in which lagoon/config.toml is looked for (~/.config)"},
          {"HF_HUB_CACHE", "the cache of Hugging Face in which models are looked for"},
          {"HF_HOME", "where HF_HUB_CACHE is not set, the folder that holds hub/"},
          {"XDG_CACHE_HOME", "where neither is set, the folder that holds huggingface/hub (~/.cache)"},
          {"NO_COLOR", "if it is not empty, no styles are printed"},
          {"TERM", "dumb: neither styles nor progress"},
          {"COLUMNS", "the width of help that goes to no terminal"}};
}

std::vector<HelpEntry> exit_codes() {
  return {{"0", "done"},
          {"1", "a failure: memory, a disk, a defect of Lagoon"},
          {"2", "bad usage or input"},
          {"130, 143", "stopped by Ctrl-C or SIGTERM"}};
}

}  // namespace lagoon
