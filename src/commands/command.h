// command.h: what every subcommand is. Its file declares the options on the command line's parser and returns what to do
// with them; command_line.cpp lists the subcommands.
#pragma once

#include "commands/environment.h"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace lagoon {

class CommandLine;

/// Runs a parsed subcommand; returns the exit code. @throws Error
using Action = std::function<int(const Environment& environment)>;

/// A call that works with the model that ships with Lagoon. tests/cli runs each in a folder of its own.
struct Example {
  std::string line;  // as typed in a shell, on one line
  std::string says;  // what it does, for the reader
};

struct Command {
  CLI::App* parser;
  Action action;
  std::vector<Example> examples = {};  // two or more
  bool reads_settings = true;          // false: it works whatever the config file holds, and gets an environment with a console alone
};

Command declare_bench(CLI::App& program);
Command declare_chat(CLI::App& program);
Command declare_compare(CLI::App& program);
Command declare_completion(CLI::App& program, const CommandLine& line);
Command declare_config(CLI::App& program, const CommandLine& line);
Command declare_facts(CLI::App& program);
Command declare_generate(CLI::App& program);
Command declare_inspect(CLI::App& program);
Command declare_kv(CLI::App& program);
Command declare_logits(CLI::App& program);
Command declare_man(CLI::App& program, const CommandLine& line);
Command declare_model_names(CLI::App& program);
Command declare_models(CLI::App& program);
Command declare_plan(CLI::App& program);
Command declare_render(CLI::App& program);
Command declare_score(CLI::App& program);
Command declare_synth(CLI::App& program);
Command declare_tokenize(CLI::App& program);

}  // namespace lagoon
