#include "commands/standing_defaults.h"

#include "base/error.h"
#include "machine/file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace lagoon {
namespace {

using Kind = ConfiguredFlag::Kind;

CLI::Option* find_flag(CLI::App& parser, const ConfiguredFlag& flag) {
  const std::string name = flag.flag();
  for (CLI::Option* option : parser.get_options()) {
    const std::vector<std::string>& names = option->get_lnames();
    if (is_shown(*option) && std::find(names.begin(), names.end(), name) != names.end()) return option;
  }
  return nullptr;
}

std::vector<std::string> settable_flags(const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::Option* option : parser.get_options([](const CLI::Option* each) { return is_shown(*each) && each->nonpositional(); })) {
    if (reason_for_no_default(*option).empty()) names.push_back(name_of(*option).substr(2));
  }
  return names;
}

/// "a number", for a sentence about what is needed.
std::string needed_of(const CLI::Option& option) {
  if (is_switch(option)) return "true or false";
  const std::string type = option.get_type_name();
  if (type == "INT" || type == "UINT") return "a whole number";
  if (type == "FLOAT") return "a number";
  const std::vector<std::string> choices = choices_of(option);
  return choices.empty() ? "a string" : fmt::format("one of the strings {}", fmt::join(choices, ", "));
}

bool is_number(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type == "INT" || type == "UINT" || type == "FLOAT";
}

/// What is to be given to the flag; a switch that is off gives nothing.
/// @throws Error(invalid) if the flag's own definition does not take it
std::vector<std::string> words_of(CLI::Option& option, const ConfiguredFlag& flag, const std::filesystem::path& home) {
  const auto refuse = [&](const std::string& why) {
    fail(ErrorKind::invalid, "{} is {}, {} was needed{}", flag.about, flag.shown(), needed_of(option), why);
  };
  if (is_switch(option)) {
    if (flag.kind != Kind::truth || flag.list) refuse("");
    return flag.values.front() == "true" ? flag.values : std::vector<std::string>{};
  }
  const bool repeats = option.get_expected_max() > 1;
  if (flag.list && !repeats) refuse(", not a list");
  if (flag.kind == Kind::truth || is_number(option) != (flag.kind == Kind::number)) refuse("");
  std::vector<std::string> words = flag.values;
  const std::string type = option.get_type_name();
  if (type == "FILE" || type == "DIR") {
    for (std::string& word : words) word = settled_path(word, flag.about, home).string();
  }
  try {
    option.clear();
    for (const std::string& word : words) option.add_result(word);
    option.run_callback();
  } catch (const std::exception& error) {
    option.clear();
    if (!choices_of(option).empty()) refuse("");
    fail(ErrorKind::invalid, "{} is {}: {}", flag.about, flag.shown(), printable(said_once(error.what()), 300));
  }
  option.clear();
  return words;
}

/// @throws Error(invalid) for one that no run could take by default
void check_can_stand(const CLI::Option& option, const ConfiguredFlag& flag) {
  const std::string reason = reason_for_no_default(option);
  if (!reason.empty()) fail(ErrorKind::invalid, "{}: {} {}", flag.about, name_of(option), reason);
}

[[noreturn]] void refuse_unknown(const CLI::App& parser, const ConfiguredFlag& flag) {
  for (const CLI::Option* option : parser.get_options([](const CLI::Option* each) { return each->get_positional(); })) {
    if (option->get_name(true, false) != flag.key) continue;
    fail(ErrorKind::invalid, "{}: {} is not a flag of `{}` but what it is given each time; only flags have standing defaults", flag.about,
         printable(flag.key), parser.get_name());
  }
  const std::vector<std::string> known = settable_flags(parser);
  fail(ErrorKind::invalid, "{} is no flag of `lagoon {}`{}; known are {}", flag.about, parser.get_name(), did_you_mean(flag.flag(), known),
       fmt::join(known, ", "));
}

void check_section_names(const ConfigFile& config, const CommandLine& line) {
  std::vector<std::string> names = {"defaults"};
  for (const Command& command : line.commands()) {
    if (is_shown(*command.parser) && command.parser->get_name() != "models") names.push_back(command.parser->get_name());
  }
  for (const auto& [name, about] : config.sections) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    fail(ErrorKind::invalid, "{} is no command{}; sections are named {}", about, did_you_mean(name, names), fmt::join(names, ", "));
  }
}

/// The flags of one section that are on, each with where it stands.
using SectionFlags = std::map<const CLI::Option*, const ConfiguredFlag*>;

/// @throws Error(invalid) for one flag under two names, and two that exclude each other
void check_together(const CLI::Option& option, const ConfiguredFlag& flag, SectionFlags& together) {
  const auto [same, added] = together.emplace(&option, &flag);
  if (!added) fail(ErrorKind::invalid, "{} is set twice, as `{}` and as `{}`; leave one out", flag.about, same->second->key, flag.key);
  for (const CLI::Option* other : option.get_excludes()) {
    const auto found = together.find(other);
    if (found == together.end()) continue;
    fail(ErrorKind::invalid, "{}: {} and {} exclude each other; leave one of them out", flag.about, name_of(*other), name_of(option));
  }
}

/// [defaults] are for every command that has such a flag and takes such a value; one at least must.
void check_for_all(const ConfiguredFlag& flag, const CommandLine& line, const std::filesystem::path& home, SectionFlags& together) {
  std::string refusal;
  std::vector<std::string> known;
  for (const Command& command : line.commands()) {
    if (!is_shown(*command.parser)) continue;
    for (const std::string& name : settable_flags(*command.parser)) {
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
    }
    CLI::Option* option = find_flag(*command.parser, flag);
    if (option == nullptr) continue;
    if (const std::string reason = reason_for_no_default(*option); !reason.empty()) {
      if (refusal.empty()) refusal = fmt::format("{}: {} {}", flag.about, name_of(*option), reason);
      continue;
    }
    try {
      if (words_of(*option, flag, home).empty()) return;
    } catch (const Error& error) {
      if (refusal.empty()) refusal = error.what();
      continue;
    }
    return check_together(*option, flag, together);
  }
  if (!refusal.empty()) fail(ErrorKind::invalid, "{}", refusal);
  fail(ErrorKind::invalid, "{} is no flag of any command{}; known are {}", flag.about, did_you_mean(flag.flag(), known), fmt::join(known, ", "));
}

std::optional<std::vector<std::string>> words_for(CLI::Option& option, const ConfiguredFlag& flag, const std::filesystem::path& home) {
  if (flag.section != "defaults") return words_of(option, flag, home);
  try {
    return words_of(option, flag, home);
  } catch (const Error&) {
    return std::nullopt;  // of another command's flag with this name
  }
}

/// Whether it was typed, before or behind the command, or something that excludes it was.
bool is_decided(const CLI::Option& option, const CommandLine& typed) {
  const auto was_typed = [&](const std::string& name) {
    for (const CLI::App* parser : {&typed.program(), static_cast<const CLI::App*>(typed.chosen()->parser)}) {
      const CLI::Option* same = parser->get_option_no_throw(name);
      if (same != nullptr && same->count() > 0) return true;
    }
    return false;
  };
  const std::set<CLI::Option*> excludes = option.get_excludes();
  return was_typed(name_of(option)) ||
         std::any_of(excludes.begin(), excludes.end(), [&](const CLI::Option* other) { return was_typed(name_of(*other)); });
}

}  // namespace

std::string reason_for_no_default(const CLI::Option& option) {
  const std::string name = name_of(option);
  if (name == "--help" || name == "--version") return "prints and ends, and cannot be a default";
  if (name == "--models-dir") return "has a key of its own: models_dirs, a list of folders, outside of all sections";
  if (name == "--json" || !option.get_configurable()) return "says what one run does; give it on the command line";
  return "";
}

void check_standing_defaults(const ConfigFile& config, const std::filesystem::path& home) {
  if (config.sections.empty()) return;
  const CommandLine line;
  check_section_names(config, line);
  std::map<std::string, SectionFlags> sections;
  for (const ConfiguredFlag& flag : config.flags) {
    SectionFlags& together = sections[flag.section];
    if (flag.section == "defaults") {
      check_for_all(flag, line, home, together);
      continue;
    }
    CLI::App& parser = *line.find(flag.section)->parser;
    CLI::Option* option = find_flag(parser, flag);
    if (option == nullptr) refuse_unknown(parser, flag);
    check_can_stand(*option, flag);
    if (!words_of(*option, flag, home).empty()) check_together(*option, flag, together);
  }
}

std::vector<Setting> flag_settings(const ConfigFile& config, const std::filesystem::path& home, const std::filesystem::path& file) {
  const CommandLine line;
  std::vector<Setting> settings;
  const std::string path = printable_path(file);
  for (const Command& command : line.commands()) {
    const std::string& name = command.parser->get_name();
    if (!is_shown(*command.parser)) continue;
    for (const std::string& known : settable_flags(*command.parser)) {
      CLI::Option& option = *command.parser->get_option("--" + known);
      const std::string built_in = is_switch(option) ? "off" : option.get_default_str();
      Setting setting = {name + "." + known, built_in.empty() ? "not set" : built_in, "built-in"};
      for (const std::string& section : {std::string("defaults"), name}) {  // the last one wins
        for (const ConfiguredFlag& flag : config.flags) {
          if (flag.section != section || find_flag(*command.parser, flag) != &option || !words_for(option, flag, home)) continue;
          setting.value = flag.shown();
          setting.origin = flag.line > 0 ? fmt::format("{}, line {}", path, flag.line) : path;
        }
      }
      settings.push_back(std::move(setting));
    }
  }
  return settings;
}

std::vector<StandingDefault> apply_standing_defaults(const ConfigFile& config, const CommandLine& typed, const std::filesystem::path& home,
                                                     CommandLine& fresh) {
  std::vector<StandingDefault> applied;
  const std::string& name = typed.chosen()->parser->get_name();
  CLI::App& parser = *fresh.find(name)->parser;
  std::set<const CLI::Option*> decided;
  for (const std::string& section : {name, std::string("defaults")}) {
    for (const ConfiguredFlag& flag : config.flags) {
      CLI::Option* option = flag.section == section ? find_flag(parser, flag) : nullptr;
      if (option == nullptr || decided.contains(option) || is_decided(*option, typed)) continue;
      if (!reason_for_no_default(*option).empty()) continue;
      const auto words = words_for(*option, flag, home);
      if (!words) continue;
      decided.insert(option);  // a switch that a section turns off stays off
      for (CLI::Option* other : option->get_excludes()) decided.insert(other);
      if (words->empty()) continue;
      for (const std::string& word : *words) option->add_result(word);
      applied.push_back({name_of(*option), flag.shown(), flag.about});
    }
  }
  return applied;
}

}  // namespace lagoon
