// man: manual pages and docs/cli.md, made from the definitions of the command line.
#include "commands/manual.h"

#include "base/error.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "machine/file.h"

#include <filesystem>
#include <memory>
#include <span>
#include <system_error>

namespace lagoon {
namespace {

struct Flags {
  std::string command;
  std::string all;
  bool markdown = false;
};

const Command* command_named(const CommandLine& line, const std::string& name) {
  if (name.empty()) return nullptr;
  std::vector<std::string> names;
  for (const Command& command : line.commands()) {
    if (!is_shown(*command.parser)) continue;
    if (command.parser->get_name() == name) return &command;
    names.push_back(command.parser->get_name());
  }
  fail(ErrorKind::invalid, "`{}` is no command{}; `lagoon --help` lists them", printable(name), did_you_mean(name, names));
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  DurableWriter writer(path);
  writer.write(std::as_bytes(std::span(text)));
  writer.commit();
}

int write_all(const CommandLine& line, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder, error))
    fail(ErrorKind::invalid, "--all {}: there is no such folder and it cannot be made; name another", printable_path(folder));
  write_file(folder / "lagoon.1", manual_page(line, nullptr));
  for (const Command& command : line.commands()) {
    if (is_shown(*command.parser)) write_file(folder / ("lagoon-" + command.parser->get_name() + ".1"), manual_page(line, &command));
  }
  return 0;
}

int run(const Flags& flags, const CommandLine& line) {
  const int ways = static_cast<int>(!flags.command.empty()) + static_cast<int>(!flags.all.empty()) + static_cast<int>(flags.markdown);
  if (ways > 1) fail(ErrorKind::invalid, "man prints one thing: the page of a COMMAND, --all DIR, or --markdown");
  if (!flags.all.empty()) return write_all(line, flags.all);
  write_output(flags.markdown ? manual_markdown(line) : manual_page(line, command_named(line, flags.command)));
  return 0;
}

}  // namespace

Command declare_man(CLI::App& program, const CommandLine& line) {
  CLI::App* parser = program.add_subcommand("man", "Print the manual page of lagoon or of one of its commands");
  auto flags = std::make_shared<Flags>();
  parser->add_option("COMMAND", flags->command, "the command; without it the page of the program");
  of_one_run(parser->add_option("--all", flags->all, "write every page into this folder: lagoon.1, lagoon-generate.1, ..."))
      ->check(not_empty())
      ->type_name("DIR");
  of_one_run(parser->add_flag("--markdown", flags->markdown, "all of it as Markdown: docs/cli.md of Lagoon's sources"));
  return {parser,
          [flags, &line](const Environment&) { return run(*flags, line); },
          {{"lagoon man generate > lagoon-generate.1", "a manual page; `man -l lagoon-generate.1` shows it"},
           {"lagoon man --all man1", "all pages, for who packs Lagoon"}},
          false};
}

}  // namespace lagoon
