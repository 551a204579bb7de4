#include "commands/completion.h"

#include <fmt/ranges.h>

namespace lagoon {
namespace {

using Kind = CompletedValue::Kind;

/// What fills COMPREPLY with the values of one place.
std::string action_of(const CompletedValue& value) {
  switch (value.kind) {
    case Kind::words:
      return fmt::format("_lagoon_add {}", fmt::join(value.words, " "));
    case Kind::file:
      return "_lagoon_files -f";
    case Kind::folder:
      return "_lagoon_files -d";
    case Kind::model:
      return "_lagoon_models";
    case Kind::known_model:
      return "_lagoon_models --known";
    case Kind::nothing:
    case Kind::text:
      break;
  }
  return ":";
}

std::string flag_patterns(const CompletedFlag& flag, const std::string& command) {
  std::string patterns;
  for (const std::string& name : flag.names) patterns += (patterns.empty() ? "'" : " | '") + command + " " + name + "'";
  return patterns;
}

/// case lines: "command flag" to what its value may be; only flags with a value are there.
std::string value_cases(const std::vector<CompletedCommand>& commands) {
  std::string text;
  for (const CompletedCommand& command : commands) {
    for (const CompletedFlag& flag : command.flags) {
      if (flag.value.kind == Kind::nothing) continue;
      text += fmt::format("    {}) action='{}' ;;\n", flag_patterns(flag, command.name), action_of(flag.value));
    }
  }
  return text;
}

std::string flag_cases(const std::vector<CompletedCommand>& commands) {
  std::string text;
  for (const CompletedCommand& command : commands) {
    std::vector<std::string> names;
    for (const CompletedFlag& flag : command.flags) names.insert(names.end(), flag.names.begin(), flag.names.end());
    text += fmt::format("    '{}') _lagoon_add {} ;;\n", command.name, fmt::join(names, " "));
  }
  return text;
}

std::string argument_cases(const std::vector<CompletedCommand>& commands) {
  std::string text;
  for (const CompletedCommand& command : commands) {
    for (size_t at = 0; at < command.arguments.size(); ++at) {
      const bool repeats = command.last_repeats && at + 1 == command.arguments.size();
      text += fmt::format("    '{} '{}) {} ;;\n", command.name, repeats ? "*" : std::to_string(at), action_of(command.arguments[at]));
    }
  }
  return text;
}

constexpr const char* functions = R"bash(
# What is typed of a word, without its quotes and backslashes, in $value.
_lagoon_unquote() {
  case $1 in
    \'*) value=${1#\'} value=${value%\'} ;;
    \"*) value=${1#\"} value=${value%\"} ;;
    *) IFS= read value <<< "$1" ;;
  esac
}

# Those of the words that begin as $value does, quoted as the shell needs them.
_lagoon_add() {
  local candidate quoted
  for candidate in "$@"; do
    [[ $candidate == "$value"* ]] || continue
    if [[ $raw == [\'\"]* ]]; then
      quoted=$candidate
    else
      printf -v quoted %q "$candidate"
      quoted=${quoted#"$broken"}
    fi
    COMPREPLY+=("$quoted")
  done
}

_lagoon_files() {
  local path=$value
  [[ $path == '~/'* ]] && path=$HOME/${path:2}
  compopt -o filenames 2> /dev/null
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$1" -- "$path")
}

_lagoon_models() {
  local -a names
  mapfile -t names < <("${program[@]}" model-names "${directories[@]}" "$@" 2> /dev/null)
  _lagoon_add "${names[@]}"
  [[ $value == */* || $value == [.~]* || ${#COMPREPLY[@]} -eq 0 ]] && _lagoon_files -d
}
)bash";

constexpr const char* main_function = R"bash(
_lagoon() {
  local -a words=() directories=() program=("${COMP_WORDS[0]}")
  local index piece joined= raw value broken= command= name action= expected= ended= position=0
  COMPREPLY=()
  [[ $program == '~/'* ]] && program=$HOME/${program:2}
  # readline cuts words at = and : as well; here they are whole again.
  for ((index = 0; index <= COMP_CWORD; index++)); do
    piece=${COMP_WORDS[index]}
    if [[ ${#words[@]} -gt 1 && ($piece == [:=]* || -n $joined) ]]; then
      words[-1]+=$piece
    else
      words+=("$piece")
    fi
    joined=
    [[ $piece == [:=]* ]] && joined=1
  done
  for ((index = 1; index < ${#words[@]} - 1; index++)); do
    raw=${words[index]}
    if [[ -n $expected ]]; then
      if [[ $expected == --models-dir ]]; then
        _lagoon_unquote "$raw"
        [[ $value == '~/'* ]] && value=$HOME/${value:2}
        directories+=(--models-dir "$value")
      fi
      expected=
    elif [[ -z $ended && $raw == -- ]]; then
      ended=1
    elif [[ -z $ended && $raw == -?* ]]; then
      name=${raw%%=*}
      if [[ $raw == --models-dir=* ]]; then
        _lagoon_unquote "${raw#*=}"
        directories+=(--models-dir "$value")
      elif [[ $raw != *=* ]] && _lagoon_value "$command" "$name"; then
        expected=$name
      fi
    elif [[ -z $command ]]; then
      command=$raw
    else
      ((position++))
    fi
  done
  raw=${words[-1]}
  if [[ -z $expected && -z $ended && $raw == --*=* ]]; then
    expected=${raw%%=*}
    raw=${raw#*=}
  fi
  [[ $raw == [\'\"]* || $raw != *[:=]* ]] || broken=${raw%"${raw##*[:=]}"}
  _lagoon_unquote "$raw"
  if [[ -n $expected ]]; then
    _lagoon_value "$command" "$expected" && $action
  elif [[ -z $ended && $raw == -* ]]; then
    _lagoon_flags "$command"
  elif [[ -z $command ]]; then
    _lagoon_commands
  else
    _lagoon_argument "$command" "$position"
  fi
}

complete -F _lagoon lagoon
)bash";

}  // namespace

std::string bash_completion(const std::vector<CompletedCommand>& commands) {
  std::vector<std::string> names;
  for (const CompletedCommand& command : commands) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  std::string text = "# bash completion of lagoon, printed by: lagoon completion bash\n";
  text += functions;
  text += fmt::format("\n_lagoon_commands() {{ _lagoon_add {}; }}\n", fmt::join(names, " "));
  text += "\n# Whether a flag takes a value, and in $action what finds it.\n_lagoon_value() {\n  case \"$1 $2\" in\n" + value_cases(commands) +
          "    *) return 1 ;;\n  esac\n}\n";
  text += "\n_lagoon_flags() {\n  case $1 in\n" + flag_cases(commands) + "  esac\n}\n";
  text += "\n_lagoon_argument() {\n  case \"$1 $2\" in\n" + argument_cases(commands) + "  esac\n}\n";
  return text + main_function;
}

}  // namespace lagoon
