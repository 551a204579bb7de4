#include "commands/completion.h"

#include <fmt/ranges.h>

namespace lagoon {
namespace {

using Kind = CompletedValue::Kind;

/// In single quotes, as fish reads it.
std::string fish_quoted(const std::string& text) {
  std::string escaped = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped + "'";
}

std::string value_part(const CompletedValue& value) {
  switch (value.kind) {
    case Kind::words:
      return fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(value.words, " "))));
    case Kind::file:
      return " -r -F";
    case Kind::folder:
      return " -x -a '(__fish_complete_directories (commandline -ct))'";
    case Kind::text:
      return " -x";
    case Kind::model:
    case Kind::known_model:
    case Kind::nothing:
      break;
  }
  return "";
}

std::string flag_line(const CompletedCommand& command, const CompletedFlag& flag) {
  std::string line = fmt::format("complete -c lagoon -n {}", fish_quoted(command.name.empty() ? "__lagoon_at ''" : "__lagoon_at " + command.name));
  for (const std::string& name : flag.names) line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return line + value_part(flag.value) + " -d " + fish_quoted(flag.text) + "\n";
}

std::string argument_line(const CompletedCommand& command, size_t at) {
  const bool repeats = command.last_repeats && at + 1 == command.arguments.size();
  const std::string where = fmt::format("__lagoon_at {} {}", command.name, repeats ? "" : std::to_string(at));
  std::string values;
  switch (command.arguments[at].kind) {
    case Kind::words:
      values = fmt::format("{}", fmt::join(command.arguments[at].words, " "));
      break;
    case Kind::model:
      values = "(__lagoon_models)";
      break;
    case Kind::known_model:
      values = "(__lagoon_models --known)";
      break;
    case Kind::folder:
      values = "(__fish_complete_directories (commandline -ct))";
      break;
    case Kind::file:
      return fmt::format("complete -c lagoon -n {} -F\n", fish_quoted(where));
    case Kind::text:
    case Kind::nothing:
      return "";
  }
  return fmt::format("complete -c lagoon -n {} -a {}\n", fish_quoted(where), fish_quoted(values));
}

/// The flags that take a value, so that it is not taken for an argument.
std::string value_flags(const std::vector<CompletedCommand>& commands) {
  std::vector<std::string> names;
  for (const CompletedCommand& command : commands) {
    for (const CompletedFlag& flag : command.flags) {
      if (flag.value.kind == Kind::nothing) continue;
      for (const std::string& name : flag.names) names.push_back(command.name + name);
    }
  }
  return fmt::format("{}", fmt::join(names, " "));
}

constexpr const char* functions = R"fish(
# Whether the line is at this command ('': none is typed yet), and at its argument of this number, if one is given.
function __lagoon_at
    set -l command ''
    set -l position 0
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-?*' $word
            contains -- $command$word $__lagoon_value_flags; and set skip 1
        else if test -z "$command"
            set command $word
        else
            set position (math $position + 1)
        end
    end
    test "$command" = "$argv[1]"; or return 1
    set -q argv[2]; or return 0
    test $position = $argv[2]
end

function __lagoon_models
    set -l words (commandline -opc)
    set -l directories
    for index in (seq (count $words))
        if test "$words[$index]" = --models-dir; and set -q words[(math $index + 1)]
            set -a directories --models-dir $words[(math $index + 1)]
        else if string match -q -- '--models-dir=*' $words[$index]
            set -a directories --models-dir (string replace -- --models-dir= '' $words[$index])
        end
    end
    command $words[1] model-names $directories $argv 2>/dev/null
    string match -q -- '*/*' (commandline -ct); and __fish_complete_directories (commandline -ct)
end

complete -c lagoon -e
complete -c lagoon -f
)fish";

}  // namespace

std::string fish_completion(const std::vector<CompletedCommand>& commands) {
  std::string text = "# fish completion of lagoon, printed by: lagoon completion fish\n";
  text += "set -g __lagoon_value_flags " + value_flags(commands) + "\n";
  text += functions;
  for (const CompletedCommand& command : commands) {
    if (!command.name.empty())
      text += fmt::format("complete -c lagoon -n {} -a {} -d {}\n", fish_quoted("__lagoon_at ''"), command.name, fish_quoted(command.text));
  }
  for (const CompletedCommand& command : commands) {
    for (const CompletedFlag& flag : command.flags) text += flag_line(command, flag);
    for (size_t at = 0; at < command.arguments.size(); ++at) text += argument_line(command, at);
  }
  return text;
}

}  // namespace lagoon
