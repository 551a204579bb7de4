// config: every setting, its value, and what decided it.
#include "base/error.h"
#include "base/json.h"
#include "benchmark/table.h"
#include "commands/command.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "commands/standing_defaults.h"
#include "machine/file.h"

#include <nlohmann/json.hpp>

#include <memory>

namespace lagoon {
namespace {

struct Flags {
  bool json = false;
  bool path = false;
  bool all = false;
};

std::vector<Setting> typed_flags(const GlobalFlags& flags) {
  const auto on_off = [](const char* name, bool on) { return Setting{name, on ? "on" : "off", on ? "command line" : "built-in"}; };
  return {
      on_off("quiet", flags.quiet), on_off("verbose", flags.verbose),
      Setting{"log_file", flags.log_file.empty() ? "none" : printable(flags.log_file, 4096), flags.log_file.empty() ? "built-in" : "command line"}};
}

void print_table(const std::vector<Setting>& settings, size_t left_out) {
  Table table{.header = {"setting", "value", "from"}};
  for (const Setting& setting : settings) table.rows.push_back({setting.name, setting.value, setting.origin});
  write_output(table.format(TableForm::aligned));
  if (left_out > 0) write_output(fmt::format("\n{} flags have the values that are built in; `lagoon config --all` lists them\n", left_out));
}

void print_json(const std::vector<Setting>& settings, const Environment& environment) {
  Json list = Json::array();
  for (const Setting& setting : settings) list.push_back({{"name", setting.name}, {"value", setting.value}, {"from", setting.origin}});
  const Json document = {{"config_file", printable_path(environment.config_file)}, {"settings", list}};
  write_output(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

int run(const Flags& flags, const CommandLine& line, const Console& console) {
  if (flags.path && (flags.json || flags.all)) fail(ErrorKind::invalid, "--path prints the path alone; leave --json and --all out");
  if (flags.path) {
    const ConfigPlace place = find_config_place();
    place.check();
    write_output(place.file.string() + "\n");
    return 0;
  }
  const ConfigFile config = read_user_config();
  check_standing_defaults(config, home_folder());
  const GlobalFlags global = line.global_flags();
  const Environment environment = read_environment(config, global, console);
  std::vector<Setting> settings = environment.settings;
  for (Setting& setting : typed_flags(global)) settings.push_back(std::move(setting));
  size_t left_out = 0;
  for (Setting& setting : flag_settings(config, home_folder(), environment.config_file)) {
    if (!flags.json && !flags.all && setting.origin == "built-in") {
      ++left_out;
      continue;
    }
    settings.push_back(std::move(setting));
  }
  if (flags.json) {
    print_json(settings, environment);
  } else {
    print_table(settings, left_out);
  }
  return 0;
}

}  // namespace

Command declare_config(CLI::App& program, const CommandLine& line) {
  CLI::App* parser = program.add_subcommand("config", "Show every setting with its value and where it comes from");
  auto flags = std::make_shared<Flags>();
  parser->add_flag("--json", flags->json, "one JSON object: {\"config_file\": ..., \"settings\": [...]}, with every flag");
  of_one_run(parser->add_flag("--path", flags->path, "print where the config file is, or would be"));
  of_one_run(parser->add_flag("--all", flags->all, "also the flags of commands that have their built-in values"));
  return {parser,
          [flags, &line](const Environment& environment) { return run(*flags, line, environment.console); },
          {{"lagoon config", "what holds, and why"}, {"lagoon config --path", "where the config file is looked for"}},
          false};
}

}  // namespace lagoon
