#include "commands/completion.h"

#include <fmt/ranges.h>

namespace lagoon {
namespace {

using Kind = CompletedValue::Kind;

/// Within the brackets of a spec.
std::string bracketed(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string action_of(const CompletedValue& value) {
  switch (value.kind) {
    case Kind::words:
      return fmt::format("({})", fmt::join(value.words, " "));
    case Kind::file:
      return "_files";
    case Kind::folder:
      return "_files -/";
    case Kind::model:
      return " _lagoon_models";  // the blank keeps options of compadd away from it
    case Kind::known_model:
      return " _lagoon_models --known";
    case Kind::nothing:
    case Kind::text:
      break;
  }
  return " ";
}

std::string flag_spec(const CompletedFlag& flag) {
  std::string text;
  for (const std::string& name : flag.names) {
    const bool several = flag.names.size() > 1 && !flag.repeats;
    const std::string others = several ? fmt::format("({})", fmt::join(flag.names, " ")) : "";
    std::string spec = (flag.repeats ? "*" : others) + name;
    if (flag.value.kind != Kind::nothing && name.starts_with("--")) spec += "=";
    spec += "[" + bracketed(flag.text) + "]";
    if (flag.value.kind != Kind::nothing) spec += ":" + name.substr(name.find_first_not_of('-')) + ":" + action_of(flag.value);
    text += "    " + shell_quoted(spec) + "\n";
  }
  return text;
}

/// As a pattern: those of the program that take a value.
std::string value_flags(const CompletedCommand& program) {
  std::vector<std::string> names;
  for (const CompletedFlag& flag : program.flags) {
    if (flag.value.kind != Kind::nothing) names.insert(names.end(), flag.names.begin(), flag.names.end());
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

std::string argument_specs(const CompletedCommand& command) {
  std::string text;
  for (size_t at = 0; at < command.arguments.size(); ++at) {
    const bool repeats = command.last_repeats && at + 1 == command.arguments.size();
    const std::string place = repeats ? "*" : std::to_string(at + 1);
    text += "    " + shell_quoted(place + ":" + command.argument_names[at] + ":" + action_of(command.arguments[at])) + "\n";
  }
  return text;
}

constexpr const char* models_function = R"zsh(
# $typed holds the words of the whole line.
_lagoon_models() {
  local -a names directories
  local -i index
  for ((index = 2; index < ${#typed}; index++)); do
    case ${typed[index]} in
      --models-dir) directories+=(--models-dir ${~${(Q)typed[index + 1]}}) ;;
      --models-dir=*) directories+=(--models-dir ${(Q)${typed[index]#*=}}) ;;
    esac
  done
  names=("${(@f)$(${(Q)typed[1]} model-names "${directories[@]}" "$@" 2> /dev/null)}")
  names=(${names:#})
  compadd -a names || _files -/
}
)zsh";

constexpr const char* main_head = R"zsh(
_lagoon() {
  local -a typed=("${words[@]}") commands specs
  local context state state_descr line
  local -i at=2
  typeset -A opt_args
  # Where the command stands: before it are flags alone.
  while (( at < CURRENT )); do
    case ${words[at]} in
)zsh";

}  // namespace

std::string zsh_completion(const std::vector<CompletedCommand>& commands) {
  std::string text = "#compdef lagoon\n# zsh completion of lagoon, printed by: lagoon completion zsh\n";
  text += models_function;
  text += main_head;
  text += "      " + value_flags(commands.front()) + ") (( at += 2 )) ;;\n      -*) (( at++ )) ;;\n      *) break ;;\n    esac\n  done\n";
  text += "  if (( at >= CURRENT )); then\n    commands=(\n";
  for (const CompletedCommand& command : commands) {
    if (!command.name.empty()) text += "    " + shell_quoted(command.name + ":" + command.text) + "\n";
  }
  text += "    )\n    specs=(\n";
  for (const CompletedFlag& flag : commands.front().flags) text += flag_spec(flag);
  text += "    )\n    _arguments -C \"${specs[@]}\" '1:command:->command' && return\n";
  text += "    [[ $state == command ]] && _describe -t commands 'lagoon command' commands\n    return\n  fi\n";
  // From the command on, as if it were the program.
  text += "  words=(\"${(@)words[at,-1]}\")\n  (( CURRENT -= at - 1 ))\n  case $words[1] in\n";
  for (const CompletedCommand& command : commands) {
    if (command.name.empty()) continue;
    text += "  " + command.name + ") specs=(\n";
    for (const CompletedFlag& flag : command.flags) text += flag_spec(flag);
    text += argument_specs(command) + "  ) ;;\n";
  }
  text += "  *) return 1 ;;\n  esac\n  _arguments \"${specs[@]}\"\n}\n";
  // Read as a file of $fpath it is the function's body; read with `source` it registers itself.
  text += "\nif [[ $funcstack[1] == _lagoon ]]; then\n  _lagoon \"$@\"\nelif (( $+functions[compdef] )); then\n  compdef _lagoon lagoon\nfi\n";
  return text;
}

}  // namespace lagoon
