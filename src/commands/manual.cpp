#include "commands/manual.h"

#include "commands/command_help.h"
#include "commands/config_file.h"
#include "commands/version.h"

#include <fmt/format.h>

namespace lagoon {
namespace {

/// Text in which roff sees no commands of its own. Dashes stay dashes, as whoever copies a flag needs them.
std::string roff(const std::string& text) {
  std::string escaped;
  bool at_start = true;
  for (const char letter : text) {
    if (at_start && (letter == '.' || letter == '\'')) escaped += "\\&";
    at_start = letter == '\n';
    switch (letter) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

void section(std::string& page, const std::string& title) { page += ".SH " + title + "\n"; }

void tagged(std::string& page, const std::vector<HelpEntry>& entries) {
  for (const HelpEntry& entry : entries) page += ".TP\n\\fB" + roff(entry.names) + "\\fR\n" + roff(entry.text) + ".\n";
}

/// Lines as they are.
void verbatim(std::string& page, const std::string& text) {
  page += ".PP\n.RS 4\n.nf\n" + roff(text) + (text.ends_with('\n') ? "" : "\n") + ".fi\n.RE\n";
}

std::string upper(std::string text) {
  for (char& letter : text) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return text;
}

std::string lower_start(std::string text) {
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

std::string title_of(const Command* command) { return command == nullptr ? "lagoon" : "lagoon-" + command->parser->get_name(); }

std::string description_of(const CLI::App& parser) {
  std::string text = parser.get_description();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void describe_program(std::string& page, const CommandLine& line) {
  section(page, "COMMANDS");
  std::vector<HelpEntry> commands;
  for (const Command& command : line.commands()) {
    if (is_shown(*command.parser)) commands.push_back({command.parser->get_name(), description_of(*command.parser)});
  }
  tagged(page, commands);
}

void describe_config_file(std::string& page) {
  section(page, "FILES");
  page += ".TP\n\\fB" + roff("~/.config/lagoon/config.toml") + "\\fR\n" +
          roff(
              "Settings of the user; each key may be absent. A config.json with the same keys is read where there is no config.toml. A section named "
              "after a command sets the defaults of its flags, [defaults] those of every command that has them; flags that are typed win.") +
          "\n";
  verbatim(page, config_file_help());
}

std::string escape_text(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '<' || letter == '*') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

void list(std::string& text, const std::vector<HelpEntry>& entries) {
  for (const HelpEntry& entry : entries) text += "- `" + entry.names + "`: " + escape_text(entry.text) + "\n";
}

std::string command_markdown(const Command& command) {
  const CLI::App& parser = *command.parser;
  std::string text = "## lagoon " + parser.get_name() + "\n\n" + escape_text(description_of(parser)) + ".\n\n```\n" + usage_of(parser) + "\n```\n";
  for (const HelpGroup& group : help_groups(parser)) {
    if (group.title == "Of every command") continue;
    text += "\n" + group.title + ":\n\n";
    list(text, group.entries);
  }
  if (!command.examples.empty()) text += "\nExamples:\n\n```\n";
  for (const Example& example : command.examples) text += "# " + example.says + "\n" + example.line + "\n";
  return text + (command.examples.empty() ? "\n" : "```\n\n");
}

}  // namespace

std::string manual_page(const CommandLine& line, const Command* command) {
  const CLI::App& parser = command == nullptr ? line.program() : *command->parser;
  std::string page = fmt::format(".TH {} 1 \"\" \"lagoon {}\" \"User Commands\"\n.nh\n.ad l\n", roff(upper(title_of(command))), version());
  section(page, "NAME");
  page += roff(title_of(command)) + " \\- " + roff(lower_start(description_of(parser))) + "\n";
  section(page, "SYNOPSIS");
  page += "\\fB" + roff(usage_of(parser)) + "\\fR\n";
  if (command == nullptr) describe_program(page, line);
  section(page, "OPTIONS");
  for (const HelpGroup& group : help_groups(parser)) {
    page += ".SS " + roff(group.title) + "\n";
    tagged(page, group.entries);
  }
  if (command != nullptr && !command->examples.empty()) {
    section(page, "EXAMPLES");
    for (const Example& example : command->examples) {
      page += ".PP\n" + roff(example.says) + ":\n";
      verbatim(page, example.line);
    }
  }
  section(page, "EXIT STATUS");
  tagged(page, exit_codes());
  section(page, "ENVIRONMENT");
  tagged(page, environment_variables());
  describe_config_file(page);
  section(page, "SEE ALSO");
  std::string others = command == nullptr ? "" : "\\fBlagoon\\fR(1)";
  for (const Command& other : line.commands()) {
    if (!is_shown(*other.parser) || other.parser == &parser) continue;
    others += (others.empty() ? "" : ",\n") + std::string("\\fB") + roff(title_of(&other)) + "\\fR(1)";
  }
  return page + others + "\n";
}

std::string manual_markdown(const CommandLine& line) {
  std::string text =
      "# The command line\n\nThis page is made from the program's own definitions: `lagoon man --markdown > docs/cli.md` renews it.\n\n```\n" +
      usage_of(line.program()) + "\n```\n\n| command | |\n|---|---|\n";
  for (const Command& command : line.commands()) {
    const std::string& name = command.parser->get_name();
    if (is_shown(*command.parser)) text += fmt::format("| [{}](#lagoon-{}) | {} |\n", name, name, escape_text(description_of(*command.parser)));
  }
  std::vector<HelpGroup> groups = help_groups(line.program());
  const HelpGroup of_every_command = std::move(groups.back());
  groups.pop_back();
  text += "\nFlags of `lagoon` alone:\n\n";
  for (const HelpGroup& group : groups) list(text, group.entries);
  text += "\nFlags of every command, before it or behind it:\n\n";
  list(text, of_every_command.entries);
  text += "\nExit codes:\n\n";
  list(text, exit_codes());
  text += "\nEnvironment variables:\n\n";
  list(text, environment_variables());
  text +=
      "\n## The config file\n\n`~/.config/lagoon/config.toml`; each key may be absent. A `config.json` with the same keys is read where there is no "
      "`config.toml`.\nA section named after a command sets the defaults of its flags, `[defaults]` those of every command that has such a flag and "
      "takes such a value.\nA flag that is typed wins over its command's section, that over `[defaults]`, that over the model's "
      "generation_config.json, "
      "that over what is\nbuilt in. `lagoon config` shows what holds and where it comes from.\n\n```toml\n" +
      config_file_help() + "```\n\n";
  for (const Command& command : line.commands()) {
    if (is_shown(*command.parser)) text += command_markdown(command);
  }
  text.pop_back();
  return text;
}

}  // namespace lagoon
