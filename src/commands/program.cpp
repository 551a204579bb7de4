#include "commands/program.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "commands/command_help.h"
#include "commands/command_line.h"
#include "commands/config_file.h"
#include "commands/interrupt.h"
#include "commands/output.h"
#include "commands/standing_defaults.h"
#include "commands/terminal.h"
#include "commands/version.h"
#include "machine/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>
#include <vector>

namespace lagoon {
namespace {

/// One that was closed would be given to the next file that is opened, which what is printed would then go to. It becomes one that can
/// neither be written nor read, as it was.
void keep_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    if (::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor) return;
  }
}

/// The main thread's stack grows up to the limit that holds then: raised here where `ulimit -s` lowered it, as far as the hard limit lets us.
void require_stack() {
  constexpr rlim_t least = 4 << 20;  // bytes: what nested templates and documents take before they are refused as too deep
  struct rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least) return;
  limit.rlim_cur = std::min(limit.rlim_max, least);
  if (limit.rlim_cur == least && setrlimit(RLIMIT_STACK, &limit) == 0) return;
  fail(ErrorKind::invalid, "the stack may have {} (`ulimit -s` shows it in KiB), {} are needed; raise the limit", format_binary(limit.rlim_cur),
       format_binary(least));
}

std::string command_line_of(int count, char** arguments) {
  std::string line = "lagoon";
  for (int at = 1; at < count; ++at) line += std::string(" ") + printable(arguments[at], 4096);
  return line;
}

Console console_of(const GlobalFlags& flags) {
  return {flags.quiet ? Verbosity::quiet : flags.verbose ? Verbosity::verbose : Verbosity::usual, flags.log_file};
}

int print(const std::string& text) {
  write_output(text);
  finish_output();
  return 0;
}

/// What refuses a flag's value does not know where the value comes from.
Error with_origin(const Error& error, const std::vector<StandingDefault>& defaults) {
  std::string sentence = error.what();
  for (const StandingDefault& one : defaults) {
    std::string key = one.flag.substr(2);
    std::replace(key.begin(), key.end(), '-', '_');
    const bool about = sentence.find(one.flag) != std::string::npos || sentence.starts_with(key + " is ");
    if (!about) continue;
    sentence += fmt::format("; it is set by {}", one.about);
    break;
  }
  return {error.kind(), sentence};
}

std::string described(const ConfigFile& config, const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return fmt::format("config file: {}, which is not there", printable_path(file));
  return fmt::format("config file: {}, {} aliases, {} defaults of flags", printable_path(file), config.aliases.size(), config.flags.size());
}

/// The command with the settings of the user, whose defaults of flags count as typed.
int run_with_settings(int count, char** arguments, const CommandLine& typed, Console& console) {
  const ConfigFile config = read_user_config();
  check_standing_defaults(config, home_folder());
  CommandLine fresh;
  const std::vector<StandingDefault> defaults = apply_standing_defaults(config, typed, home_folder(), fresh);
  try {
    (void)fresh.parse(count, arguments);
    const GlobalFlags flags = fresh.global_flags();
    if (flags.quiet != typed.global_flags().quiet || flags.verbose != typed.global_flags().verbose || flags.log_file != typed.global_flags().log_file)
      console = console_of(flags);
    Environment environment = read_environment(config, flags, console);
    environment.command_line = command_line_of(count, arguments);
    console.detail(environment.command_line);
    console.detail(described(config, environment.config_file));
    for (const StandingDefault& one : defaults) console.detail(fmt::format("{} is {}, by {}", one.flag, one.shown, one.about));
    return fresh.chosen()->action(environment);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid && error.kind() != ErrorKind::unsupported) throw;
    throw with_origin(error, defaults);
  }
}

int parse_and_run(int count, char** arguments, Console& console) {
  CommandLine line;
  CommandLine::Outcome outcome = CommandLine::Outcome::fine;
  if (count <= 1) {
    write_error(help_text(line, nullptr, find_config_place().file, help_columns()));
    console.error("a command is needed; it is one of those above");
    return 2;
  }
  try {
    outcome = line.parse(count, arguments);
  } catch (const Error&) {
    console = console_of(line.global_flags());  // a log has the refusal too
    throw;
  }
  if (outcome == CommandLine::Outcome::version) return print(version_text());
  if (outcome == CommandLine::Outcome::help) return print(help_text(line, line.chosen(), find_config_place().file, help_columns()));
  console = console_of(line.global_flags());
  const Command& command = *line.chosen();
  int code = 0;
  if (command.reads_settings) {
    code = run_with_settings(count, arguments, line, console);
  } else {
    Environment environment;
    environment.console = console;
    environment.command_line = command_line_of(count, arguments);
    code = command.action(environment);
  }
  finish_output();
  return code;
}

int report(const Console& console, const std::string& sentence, int code) {
  console.error(sentence);
  return code;
}

}  // namespace

int run_program(int count, char** arguments) {
  // A file that grows past the limit of ulimit -f is an error of its write, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  keep_standard_descriptors();
  Console console;
  try {
    require_stack();
    return parse_and_run(count, arguments, console);
  } catch (const Error& error) {
    const int interrupted = error.kind() == ErrorKind::cancelled ? interrupt_exit_code() : 0;
    return report(console, error.what(), interrupted != 0 ? interrupted : exit_code_of(error.kind()));
  } catch (const std::bad_alloc&) {
    return report(console, "the system has no more memory; close other programs or ask for less", 1);
  } catch (const std::exception& error) {
    return report(console, std::string("internal error: ") + error.what(), 1);
  }
}

}  // namespace lagoon
