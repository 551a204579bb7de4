#include "commands/program.h"

#include "base/error.h"
#include "commands/command.h"
#include "commands/interrupt.h"
#include "commands/output.h"
#include "machine/cpu_features.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <new>
#include <vector>

namespace lagoon {
namespace {

int report(const std::string& sentence, int code) {
  write_error("lagoon: " + sentence + "\n");
  return code;
}

std::string version() { return std::string("lagoon ") + LAGOON_VERSION; }

int parse_and_run(int count, char** arguments) {
  CLI::App program("Runs Laguna language models on your own machine, exactly as published.", "lagoon");
  program.set_version_flag("--version", version(), "print the version");
  program.set_help_flag("-h,--help", "print this help");
  program.require_subcommand(1);
  program.failure_message(CLI::FailureMessage::simple);
  const std::vector<Command> commands = {declare_generate(program), declare_logits(program), declare_render(program), declare_tokenize(program)};
  try {
    program.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    return report(std::string(error.what()) + "; `lagoon --help` and `lagoon COMMAND --help` list what is understood", 2);
  }
  for (const Command& command : commands) {
    if (!command.parser->parsed()) continue;
    const int code = command.action(read_environment());
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
