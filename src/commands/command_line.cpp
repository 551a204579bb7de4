#include "commands/command_line.h"

#include "base/error.h"
#include "checkpoint/model_catalog.h"
#include "commands/model_options.h"
#include "commands/option_checks.h"

#include <algorithm>

namespace lagoon {
namespace {

constexpr const char* everywhere = "Of every command";

void add_global_flags(CLI::App& parser, GlobalFlags& flags) {
  CLI::Option* quiet = parser.add_flag("--quiet", flags.quiet, "show neither progress nor notes nor warnings; errors are still shown");
  CLI::Option* verbose =
      parser.add_flag("--verbose", flags.verbose, "say on standard error what is opened, planned and chosen: config file, model, kernels, memory");
  CLI::Option* log =
      parser.add_option("--log-file", flags.log_file, "append to this file, with time and level, what standard error shows and what --verbose would")
          ->check(not_empty())
          ->type_name("FILE");
  quiet->excludes(verbose);
  for (CLI::Option* option : {quiet, verbose, log}) option->group(everywhere);
  parser.get_help_ptr()->group(everywhere);
}

/// The words behind an option, of the parsers that have it.
std::vector<std::string> typed_words(const std::vector<const CLI::App*>& parsers, const std::string& name) {
  std::vector<std::string> words;
  for (const CLI::App* parser : parsers) {
    const CLI::Option* option = parser == nullptr ? nullptr : parser->get_option_no_throw(name);
    if (option != nullptr) words.insert(words.end(), option->results().begin(), option->results().end());
  }
  return words;
}

std::vector<std::string> flag_names(const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::Option* option : parser.get_options([](const CLI::Option* each) { return is_shown(*each); })) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The parser's own sentence, where it is about the number of values in words for people.
std::string count_sentence(const CLI::ParseError& error) {
  const std::string message = error.what();
  const std::string flag = message.substr(0, message.find(':'));
  if (error.get_name() == "ArgumentMismatch" && message.ends_with(" missing")) return fmt::format("`{}` needs a value", flag);
  if (error.get_name() == "ArgumentMismatch" && message.find("At Most 1 ") != std::string::npos) return fmt::format("`{}` is given twice", flag);
  return said_once(message);
}

bool looks_like_a_flag(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

}  // namespace

CommandLine::CommandLine() : program_("Runs Laguna language models on your own machine, exactly as published.", "lagoon") {
  program_.set_version_flag("--version", std::string(), "print version, commit, compiler and kernel set");
  program_.set_help_flag("-h,--help", "print this help");
  program_.require_subcommand(1);
  program_.failure_message(CLI::FailureMessage::simple);
  commands_ = {declare_chat(program_),
               declare_generate(program_),
               declare_plan(program_),
               declare_models(program_),
               declare_inspect(program_),
               declare_facts(program_),
               declare_kv(program_),
               declare_compare(program_),
               declare_bench(program_),
               declare_tokenize(program_),
               declare_render(program_),
               declare_score(program_),
               declare_logits(program_),
               declare_synth(program_),
               declare_config(program_, *this),
               declare_completion(program_, *this),
               declare_man(program_, *this),
               declare_model_names(program_)};
  add_models_dir(program_, bound_.models_dirs);
  add_global_flags(program_, bound_);
  for (const Command& command : commands_) {
    const std::string& name = command.parser->get_name();
    const bool takes_model = command.parser->get_option_no_throw("MODEL") != nullptr || name == "models" || name == "config" || name == "model-names";
    if (takes_model) add_models_dir(*command.parser, bound_.models_dirs);
    add_global_flags(*command.parser, bound_);
  }
}

const Command* CommandLine::find(std::string_view name) const {
  const auto found = std::find_if(commands_.begin(), commands_.end(), [&](const Command& command) { return command.parser->get_name() == name; });
  return found == commands_.end() ? nullptr : &*found;
}

const Command* CommandLine::chosen() const {
  const auto found = std::find_if(commands_.begin(), commands_.end(), [](const Command& command) { return command.parser->parsed(); });
  return found == commands_.end() ? nullptr : &*found;
}

CommandLine::Outcome CommandLine::parse(int count, char** arguments) {
  std::vector<char*> words(arguments, arguments + count);
  std::string help = "--help";
  if (count > 1 && std::string_view(arguments[1]) == "help") {  // `lagoon help chat` is `lagoon chat --help`
    words.erase(words.begin() + 1);
    if (count == 2 || find(words[1]) != nullptr) words.push_back(help.data());
  }
  try {
    program_.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::CallForHelp&) {
    return Outcome::help;
  } catch (const CLI::CallForVersion&) {
    return Outcome::version;
  } catch (const CLI::ParseError& error) {
    fail(ErrorKind::invalid, "{}", refusal(error));
  }
  return Outcome::fine;
}

std::string CommandLine::refusal(const CLI::ParseError& error) const {
  const Command* command = chosen();
  const CLI::App& parser = command == nullptr ? program_ : *command->parser;
  const std::string help =
      command == nullptr ? "`lagoon --help` lists what is understood" : fmt::format("`lagoon {} --help` lists what is understood", parser.get_name());
  std::vector<std::string> surplus = program_.remaining();
  if (command != nullptr && surplus.empty()) surplus = parser.remaining();
  if (surplus.empty() && command == nullptr && error.get_name() == "RequiredError") return "a command is missing; " + help;
  if (surplus.empty()) return printable(count_sentence(error), 400) + "; " + help;
  if (surplus.front() == "--" && surplus.size() > 1) surplus.erase(surplus.begin());
  const std::string& first = surplus.front();
  const std::string shown = printable(first);
  if (looks_like_a_flag(first)) {
    const std::string name = first.substr(0, first.find('='));
    std::vector<std::string> names = flag_names(parser);
    if (std::find(names.begin(), names.end(), name) != names.end())
      return fmt::format("`{}` stands behind `--`, where nothing is a flag; write it before; {}", shown, help);
    if (command == nullptr) return fmt::format("`{}` is no flag of `lagoon`{}; {}", shown, did_you_mean(name, names), help);
    return fmt::format("`{}` is no flag of `lagoon {}`{}; {}", shown, parser.get_name(), did_you_mean(name, names), help);
  }
  if (command == nullptr) {
    std::vector<std::string> names;
    for (const Command& known : commands_) {
      if (is_shown(*known.parser)) names.push_back(known.parser->get_name());
    }
    return fmt::format("`{}` is no command{}; {}", shown, did_you_mean(first, names), help);
  }
  return fmt::format("`{}` is one word too many for `lagoon {}`; put quotes around a text of several words; {}", shown, parser.get_name(), help);
}

GlobalFlags CommandLine::global_flags() const {
  const Command* command = chosen();
  const std::vector<const CLI::App*> parsers = {&program_, command == nullptr ? nullptr : command->parser};
  const auto is_on = [&](const char* name) {
    const std::vector<std::string> words = typed_words(parsers, name);
    return !words.empty() && words.back() != "false";
  };
  GlobalFlags flags = {.quiet = is_on("--quiet"), .verbose = is_on("--verbose"), .models_dirs = typed_words(parsers, "--models-dir")};
  if (flags.quiet && flags.verbose) fail(ErrorKind::invalid, "--quiet and --verbose exclude each other; give one of them");
  const std::vector<std::string> files = typed_words(parsers, "--log-file");
  if (files.size() > 1) fail(ErrorKind::invalid, "--log-file is given {} times; give it once", files.size());
  if (!files.empty()) flags.log_file = files.front();
  return flags;
}

bool is_shown(const CLI::App& command) { return !command.get_group().empty(); }

bool is_shown(const CLI::Option& option) { return !option.get_group().empty(); }

std::string name_of(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) return "-" + option.get_snames().front();
  return option.get_name(true, false);
}

bool is_switch(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

std::string placeholder_of(const CLI::Option& option) {
  if (is_switch(option)) return "";
  const std::string type = option.get_type_name();
  if (type == "INT" || type == "UINT") return "N";
  if (type == "FLOAT") return "X";
  return type;
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  std::vector<std::string> choices;
  if (type.find('|') == std::string::npos) return choices;
  for (size_t begin = 0; begin <= type.size();) {
    const size_t end = std::min(type.find('|', begin), type.size());
    choices.push_back(type.substr(begin, end - begin));
    begin = end + 1;
  }
  return choices;
}

std::string said_once(const std::string& message) {
  const size_t colon = message.find(": ");
  if (colon == std::string::npos) return message;
  const std::string rest = message.substr(colon + 2);
  return rest.starts_with(message.substr(0, colon) + " ") ? rest : message;
}

std::string did_you_mean(const std::string& typed, const std::vector<std::string>& names) {
  const std::string* nearest = nullptr;
  constexpr size_t longest = 64;  // what is longer is no slip of a finger
  size_t best = typed.size() / 3 + 1;
  if (typed.size() > longest) return "";
  for (const std::string& name : names) {
    const size_t distance = name_distance(typed, name);
    if (distance >= best) continue;
    best = distance;
    nearest = &name;
  }
  return nearest == nullptr ? "" : fmt::format("; did you mean `{}`?", *nearest);
}

}  // namespace lagoon
