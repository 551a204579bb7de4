#include "commands/program.h"

#include "base/error.h"
#include "commands/command.h"
#include "commands/config_file.h"
#include "commands/interrupt.h"
#include "commands/model_options.h"
#include "commands/output.h"
#include "commands/version.h"
#include "machine/cpu_features.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <new>
#include <vector>

namespace lagoon {
namespace {

int report(const std::string& sentence, int code) {
  write_error("lagoon: " + sentence + "\n");
  return code;
}

/// One line, whatever the arguments held; a word that is no command is named.
std::string usage_error(const std::vector<Command>& commands, int count, char** arguments, const std::string& message) {
  const std::string first = count > 1 ? arguments[1] : "";
  const bool known = std::any_of(commands.begin(), commands.end(), [&](const Command& command) { return command.parser->get_name() == first; });
  if (!first.empty() && first.front() != '-' && !known) return fmt::format("`{}` is no command", printable(first));
  return printable(message, 400);
}

std::string command_line(int count, char** arguments) {
  std::string line = "lagoon";
  for (int at = 1; at < count; ++at) line += std::string(" ") + printable(arguments[at], 4096);
  return line;
}

int parse_and_run(int count, char** arguments) {
  CLI::App program("Runs Laguna language models on your own machine, exactly as published.", "lagoon");
  program.set_version_flag("--version", "lagoon " + version(), "print the version");
  program.set_help_flag("-h,--help", "print this help");
  program.require_subcommand(1);
  program.failure_message(CLI::FailureMessage::simple);
  const std::vector<Command> commands = {declare_chat(program),    declare_compare(program),  declare_facts(program),   declare_kv(program),
                                         declare_bench(program),   declare_generate(program), declare_inspect(program), declare_logits(program),
                                         declare_models(program),  declare_plan(program),     declare_render(program),  declare_synth(program),
                                         declare_tokenize(program)};
  program.footer(config_file_help(config_file_path()));
  std::vector<std::string> models_dirs;  // those before the command and those behind it
  std::vector<std::string> behind;
  add_models_dir(program, models_dirs);
  for (const Command& command : commands) {
    const bool takes_model = command.parser->get_option_no_throw("MODEL") != nullptr || command.parser->get_name() == "models";
    if (takes_model) add_models_dir(*command.parser, behind);
  }
  try {
    program.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      program.exit(error);
      std::cout.flush();
      if (!std::cout) fail(ErrorKind::io, "standard output cannot be written");
      finish_output();
      return 0;
    }
    return report(usage_error(commands, count, arguments, error.what()) + "; `lagoon --help` and `lagoon COMMAND --help` list what is understood", 2);
  }
  for (const Command& command : commands) {
    if (!command.parser->parsed()) continue;
    Environment environment = read_environment();
    environment.command_line = command_line(count, arguments);
    models_dirs.insert(models_dirs.end(), behind.begin(), behind.end());
    use_models_dirs(models_dirs, environment.places);
    const int code = command.action(environment);
    finish_output();
    return code;
  }
  return 2;
}

}  // namespace

int run_program(int count, char** arguments) {
  // A file that grows past the limit of ulimit -f is an error of its write, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return parse_and_run(count, arguments);
  } catch (const Error& error) {
    const int interrupted = error.kind() == ErrorKind::cancelled ? interrupt_exit_code() : 0;
    return report(error.what(), interrupted != 0 ? interrupted : exit_code_of(error.kind()));
  } catch (const std::bad_alloc&) {
    return report("the system has no more memory; close other programs or ask for less", 1);
  } catch (const std::exception& error) {
    return report(std::string("internal error: ") + error.what(), 1);
  }
}

}  // namespace lagoon
