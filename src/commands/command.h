// command.h: what every subcommand is. Its file declares the options on the command line's parser and returns what to do
// with them; program.cpp lists the subcommands.
#pragma once

#include "commands/environment.h"

#include <functional>

namespace CLI {
class App;
}

namespace lagoon {

/// Runs a parsed subcommand; returns the exit code. @throws Error
using Action = std::function<int(const Environment& environment)>;

struct Command {
  CLI::App* parser;
  Action action;
};

Command declare_bench(CLI::App& program);
Command declare_chat(CLI::App& program);
Command declare_compare(CLI::App& program);
Command declare_facts(CLI::App& program);
Command declare_generate(CLI::App& program);
Command declare_inspect(CLI::App& program);
Command declare_kv(CLI::App& program);
Command declare_logits(CLI::App& program);
Command declare_models(CLI::App& program);
Command declare_plan(CLI::App& program);
Command declare_render(CLI::App& program);
Command declare_synth(CLI::App& program);
Command declare_tokenize(CLI::App& program);

}  // namespace lagoon
