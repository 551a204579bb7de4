// chat: a conversation on a terminal, or line by line.
#include "base/byte_size.h"
#include "base/error.h"
#include "base/utf8.h"
#include "commands/chat_input.h"
#include "commands/chat_session.h"
#include "commands/command.h"
#include "commands/interrupt.h"
#include "commands/model_choice.h"
#include "commands/model_options.h"
#include "commands/model_runner.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "commands/sampling_flags.h"
#include "commands/tab_completion.h"
#include "text/vocabulary.h"

#include <poll.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

namespace lagoon {
namespace {

struct ChatFlags {
  std::string model;
  std::string system;
  std::string thinking;
  std::string load;
  bool fold_thinking = false;
  bool show_thinking = false;
  bool no_history = false;
  int64_t max_tokens = -1;
  std::vector<std::string> stop;
  SamplingFlags sampling;
  RunnerFlags runner;
  const CLI::App* parser = nullptr;

  bool given(const std::string& option) const { return parser->count(option) > 0; }
};

void check_flags(const ChatFlags& flags) {
  if (!flags.load.empty() && flags.given("--system"))
    fail(ErrorKind::invalid, "--system and --load do not go together: a saved conversation brings its own; /system changes it");
  if (!is_valid_utf8(flags.system)) fail(ErrorKind::invalid, "--system is not valid UTF-8; write it in that encoding");
}

ThinkingView view_of(const ChatFlags& flags, const Environment& environment) {
  if (flags.fold_thinking) return ThinkingView::folded;
  return usual_thinking_view(environment.output_is_terminal, flags.show_thinking);
}

/// What must hold before and while the model is loaded: the terminal is ours, and signals give it back.
struct Surroundings {
  std::unique_ptr<TerminalModes> modes;  // null: lines are read as they come
  LineHistory history;
  std::unique_ptr<MessageSource> source;

  Surroundings(const ChatFlags& flags, const Environment& environment)
      : history(flags.no_history || environment.state_folder.empty() ? std::filesystem::path() : environment.state_folder / "history") {
    const bool edits = environment.input_is_terminal && environment.output_is_terminal && environment.moves_cursor;
    hold_interrupts(edits ? TerminalModes::hooks() : TerminalHooks());
    if (!edits) {
      source = std::make_unique<LineSource>(environment.input_is_terminal ? "> " : "", environment.input_is_terminal);
      return;
    }
    modes = std::make_unique<TerminalModes>(environment.colour);
    try {
      history.load();
    } catch (const Error& error) {
      environment.console.warning(fmt::format("the history is left alone: {}", error.what()));
      history = LineHistory({});
    }
    source = std::make_unique<EditorSource>(*modes, history, environment.colour, chat_completer(environment.home), environment.console);
  }
};

std::string memory_lines(const LoadedModel& loaded) {
  return fmt::format("memory           {} planned, {} held, {} resident at most\n", format_gib(loaded.plan.total_bytes()),
                     format_gib(loaded.budget->peak()), format_gib(peak_resident_bytes()));
}

int converse(const ChatFlags& flags, const Environment& environment, Surroundings& around) {
  const Checkpoint checkpoint = Checkpoint::open(flags.model, environment.places, SystemFiles());
  const ModelConfig& config = checkpoint.config();
  const GenerationConfig advice = load_generation_config(checkpoint.folder(), SystemFiles());
  const Tokenizer tokenizer = Tokenizer::load(checkpoint.folder() / "tokenizer.json");
  const ChatTemplate chat_template = ChatTemplate::load(checkpoint.folder());
  check_vocabulary(tokenizer, advice, checkpoint);
  ChatSettings settings = {.seed_given = seed_given(flags.sampling), .view = view_of(flags, environment), .max_context = config.max_context};
  settings.options = {.sampling = sampling_of(flags.sampling, advice),
                      .end_ids = end_ids(advice, config, environment.console),
                      .stop_strings = flags.stop,
                      .max_tokens = flags.max_tokens,
                      .thinking = thinking_of(flags.thinking, advice)};
  settings.context = flags.runner.context > 0 ? flags.runner.context : std::min(usual_context, config.max_context);
  check_request({.prompt = {0}, .sampling = settings.options.sampling, .stop_strings = flags.stop}, config.vocabulary, settings.context);

  const PlanRequest plan = {.model = runner_options(flags.runner, config, settings.context), .text_bytes = text_bytes_of(checkpoint.folder())};
  settings.memory_of = [&](int64_t context) {
    PlanRequest other = plan;
    other.model.context = context;
    return MemoryPlanner(checkpoint).plan(other).total_bytes();
  };
  const LoadedModel loaded = load_model(printable(flags.model, 4096), checkpoint, plan, flags.runner, environment);
  const MemoryBudget::Claim logits = loaded.budget->claim(logits_line, static_cast<uint64_t>(config.vocabulary) * sizeof(float));
  settings.memory_lines = [&] { return memory_lines(loaded); };
  Session session(*loaded.model);
  Conversation conversation(tokenizer, chat_template, session);
  if (flags.given("--system")) conversation.set_system(flags.system);
  const int64_t context = settings.context;
  ChatSession chat(conversation, *around.source, std::move(settings), environment);
  if (environment.output_is_terminal && environment.input_is_terminal) {
    write_output(fmt::format("{}, context {} tokens; /help lists the commands, Ctrl-D leaves\n", printable(flags.model, 4096),
                             format_count(static_cast<uint64_t>(context))));
  }
  if (!flags.load.empty()) chat.load(flags.load);
  const int code = chat.run();
  if (flags.runner.memory_report && code == 0) environment.console.report(memory_report(loaded));
  return code;
}

bool terminal_is_gone() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0 && (input.revents & POLLHUP) != 0;
}

int run(const ChatFlags& flags, const Environment& environment) {
  using namespace chat_exit;
  check_flags(flags);
  Surroundings around(flags, environment);
  int code = 0;
  try {
    code = converse(flags, environment, around);
  } catch (const Error&) {
    // Of a terminal that is gone, a write fails before anybody has asked for the signal.
    code = interrupt_exit_code();
    if ((code == 0 || code == interrupted) && environment.input_is_terminal && terminal_is_gone()) code = hung_up;
    if (code == 0 || code == interrupted) throw;
    if (code != hung_up) environment.console.error(stopped_by(code));
  }
  if (code == hung_up) abandon_output();
  return code;
}

}  // namespace

Command declare_chat(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("chat", "Talk with a model");
  auto flags = std::make_shared<ChatFlags>();
  flags->parser = parser;
  parser->add_option("MODEL", flags->model, model_help)->required();
  parser->add_option("--system", flags->system, "a system message");
  of_one_run(parser->add_option("--load", flags->load, "go on with a conversation that /save wrote, or any JSON list of OpenAI messages"))
      ->check(not_empty())
      ->type_name("FILE");
  one_of(parser->add_option("--thinking", flags->thinking, "whether the model thinks first (what generation_config.json says, else on)"),
         {"on", "off"});
  auto* show = parser->add_flag("--show-thinking", flags->show_thinking, "print the thinking also where the output is no terminal");
  parser->add_flag("--fold-thinking", flags->fold_thinking, "one line in the place of the thinking; /thinking shows it")->excludes(show);
  parser->add_flag("--no-history", flags->no_history, "read and write no history of what was sent");
  number_in(parser->add_option("--max-tokens", flags->max_tokens, "most tokens of one answer (until the context is full)"), 1);
  parser->add_option("--stop", flags->stop, "end an answer before this text; may be repeated")->allow_extra_args(false);
  number_in(parser->add_option("--context", flags->runner.context, "tokens of the whole conversation (the checkpoint's, at most 32768)"), 1);
  add_sampling_flags(*parser, flags->sampling);
  add_runner_flags(*parser, flags->runner);
  refuse_speculation(*parser);
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"printf \"What is 17 * 24?\\n/save talk.json\\n\" | lagoon chat nano", "each line of standard input is a message or a command"},
           {"echo \"And 12 * 12?\" | lagoon chat nano --thinking off --temperature 0 --system \"You are brief.\"",
            "without thinking, the likeliest words"}}};
}

}  // namespace lagoon
