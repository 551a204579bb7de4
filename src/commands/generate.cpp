// generate: a prompt in, an answer out.
#include "base/byte_size.h"
#include "base/error.h"
#include "base/json.h"
#include "commands/answer_printer.h"
#include "commands/chat_input.h"
#include "commands/command.h"
#include "commands/interrupt.h"
#include "commands/model_choice.h"
#include "commands/model_options.h"
#include "commands/model_runner.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "commands/progress.h"
#include "commands/sampling_flags.h"
#include "commands/token_input.h"
#include "engine/generation.h"
#include "text/vocabulary.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace lagoon {
namespace {

struct Flags {
  std::string model;
  std::string prompt;
  std::string thinking;
  ChatInput chat;
  bool raw = false;
  bool json = false;
  bool show_thinking = false;
  int64_t max_tokens = -1;
  std::vector<std::string> stop;
  SamplingFlags sampling;
  RunnerFlags runner;
  CLI::App* parser = nullptr;

  bool given(const std::string& option) const { return parser->count(option) > 0; }
};

/// PROMPT, or standard input for "-". `echo` and editors end a text with a newline that nobody means to say; raw text is exact.
std::string prompt_of(const Flags& flags) {
  if (flags.prompt != "-") return flags.prompt;
  std::string prompt = read_input(input_limit);
  if (!flags.raw && prompt.ends_with('\n')) prompt.pop_back();
  return prompt;
}

std::vector<int32_t> prompt_ids(const Flags& flags, const Tokenizer& tokenizer, const std::filesystem::path& folder, bool thinking,
                                const Console& console) {
  const std::string prompt = prompt_of(flags);
  if (flags.raw) return raw_prompt(tokenizer, prompt);
  ChatInput input = flags.chat;
  input.prompt = prompt;
  input.has_system = flags.given("--system");
  input.thinking = thinking;
  bool answered = false;
  const MarkedText rendered = render_chat(folder, input, &answered);
  if (answered) {
    console.warning(
        "the last message is an answer already, and the model is asked for another one; end with a user message, or go on with "
        "`lagoon chat MODEL --load FILE`");
  }
  return tokenizer.encode(rendered);
}

void check_flags(const Flags& flags) {
  if (flags.given("PROMPT") == !flags.chat.messages.empty())
    fail(ErrorKind::invalid, "generate needs either a PROMPT or --messages FILE.json, and not both");
  if (flags.raw && (!flags.chat.messages.empty() || !flags.chat.tools.empty() || flags.given("--system") || flags.given("--thinking"))) {
    fail(ErrorKind::invalid, "--raw feeds the prompt as it is: --messages, --tools, --system and --thinking go with a chat template");
  }
  if (!flags.chat.messages.empty() && flags.given("--system"))
    fail(ErrorKind::invalid, "--system goes with a PROMPT; --messages brings its own system message");
}

double rate(int64_t tokens, double seconds) { return seconds > 0.0 ? static_cast<double>(tokens) / seconds : 0.0; }

/// @param memory  the report; null: none was asked for
void print_json(const GenerationResult& result, uint64_t seed, const Json& memory) {
  const auto generated = static_cast<int64_t>(result.ids.size());
  Json object;
  object["text"] = result.content;
  object["reasoning"] = result.reasoning;
  object["ids"] = result.ids;
  object["prompt_tokens"] = result.prompt_tokens;
  object["completion_tokens"] = generated;
  object["stop_reason"] = name_of(result.stop_reason);
  object["seed"] = seed;
  object["timings"] = {{"prompt_seconds", result.prompt_seconds},
                       {"generate_seconds", result.generate_seconds},
                       {"prompt_tokens_per_second", rate(result.prompt_tokens - result.reused_tokens, result.prompt_seconds)},
                       {"generate_tokens_per_second", rate(generated, result.generate_seconds)}};
  if (!memory.is_null()) object["memory"] = memory;
  write_output(object.dump() + "\n");
}

int run(const Flags& flags, const Environment& environment) {
  check_flags(flags);
  const Checkpoint checkpoint = Checkpoint::open(flags.model, environment.places, SystemFiles());
  const GenerationConfig advice = load_generation_config(checkpoint.folder(), SystemFiles());
  const Tokenizer tokenizer = Tokenizer::load(checkpoint.folder() / "tokenizer.json");
  check_vocabulary(tokenizer, advice, checkpoint);
  GenerationRequest request;
  request.sampling = sampling_of(flags.sampling, advice);
  request.thinking = !flags.raw && thinking_of(flags.thinking, advice);
  request.prompt = prompt_ids(flags, tokenizer, checkpoint.folder(), request.thinking, environment.console);
  request.end_ids = end_ids(advice, checkpoint.config(), environment.console);
  request.stop_strings = flags.stop;
  request.max_tokens = flags.max_tokens;
  request.keep_special = flags.raw;

  const int64_t context = flags.runner.context > 0 ? flags.runner.context : std::min(usual_context, checkpoint.config().max_context);
  check_request(request, checkpoint.config().vocabulary, context);
  const PlanRequest plan = {.model = runner_options(flags.runner, checkpoint.config(), context), .text_bytes = text_bytes_of(checkpoint.folder())};
  const LoadedModel loaded = load_model(printable(flags.model, 4096), checkpoint, plan, flags.runner, environment);
  const MemoryBudget::Claim logits = loaded.budget->claim(logits_line, static_cast<uint64_t>(checkpoint.config().vocabulary) * sizeof(float));
  Session session(*loaded.model);
  AnswerPrinter printer({.terminal = environment.output_is_terminal,
                         .colour = environment.colour,
                         .thinking = usual_thinking_view(environment.output_is_terminal, flags.show_thinking)});
  std::optional<ProgressLine> progress(std::in_place, environment.error_is_terminal, "reading the prompt", "tokens");
  GenerationEvents events;
  if (!flags.json) events.piece = [&](const GenerationPiece& piece) { printer.print(piece); };
  // An answer that is not seen as it comes; it may well end before its longest.
  std::optional<ProgressLine> answering;
  uint64_t answered = 0;
  const auto longest = static_cast<uint64_t>(flags.max_tokens > 0 ? flags.max_tokens : context - static_cast<int64_t>(request.prompt.size()));
  events.before_step = [&] {
    check_interrupt();
    progress.reset();  // the answer begins where that line stood
    if (!answering)
      answering.emplace(environment.error_is_terminal && (flags.json || !environment.output_is_terminal), "answering, at most", "tokens");
    answering->update(answered++, longest);
  };
  events.prompt_progress = [&](int64_t done, int64_t total) {
    check_interrupt();
    progress->update(static_cast<uint64_t>(done), static_cast<uint64_t>(total));
  };
  const GenerationResult result = generate(session, tokenizer, request, events);
  answering.reset();
  if (flags.json) {
    print_json(result, request.sampling.seed, flags.runner.memory_report ? memory_report_json(loaded) : Json());
  } else {
    printer.finish();
    if (flags.runner.memory_report) environment.console.report(memory_report(loaded));
  }
  if (result.stop_reason == StopReason::max_tokens && !flags.json)
    environment.console.note(fmt::format("the answer is cut at --max-tokens {}", format_count(static_cast<uint64_t>(flags.max_tokens))));
  if (result.stop_reason == StopReason::context_full) {
    environment.console.warning(fmt::format("the context of {} tokens is full: {} of the prompt and {} of the answer; raise --context to go on",
                                            format_count(static_cast<uint64_t>(context)), format_count(static_cast<uint64_t>(result.prompt_tokens)),
                                            format_count(result.ids.size())));
  }
  return 0;
}

}  // namespace

Command declare_generate(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("generate", "Answer one prompt");
  auto flags = std::make_shared<Flags>();
  flags->parser = parser;
  parser->add_option("MODEL", flags->model, model_help)->required();
  parser->add_option("PROMPT", flags->prompt, "what the user says (- is standard input, without its last newline)");
  parser->add_option("--system", flags->chat.system, "a system message before the prompt");
  of_one_run(parser->add_option("--messages", flags->chat.messages, "JSON file with a list of OpenAI chat messages instead of a prompt"))
      ->check(not_empty())
      ->type_name("FILE");
  parser->add_option("--tools", flags->chat.tools, "JSON file with a list of OpenAI tools")->check(not_empty())->type_name("FILE");
  one_of(parser->add_option("--thinking", flags->thinking, "whether the model thinks first (what generation_config.json says, else on)"),
         {"on", "off"});
  parser->add_flag("--show-thinking", flags->show_thinking, "print the thinking also where the output is no terminal");
  parser->add_flag("--raw", flags->raw, "complete the prompt as it is, without chat template; control tokens in it match");
  parser->add_flag("--json", flags->json, "one JSON object at the end instead of text");
  number_in(parser->add_option("--max-tokens", flags->max_tokens, "most tokens to generate (until the context is full)"), 1);
  parser->add_option("--stop", flags->stop, "end the answer before this text; may be repeated")->allow_extra_args(false);
  number_in(parser->add_option("--context", flags->runner.context, "tokens of prompt and answer together (the checkpoint's, at most 32768)"), 1);
  add_sampling_flags(*parser, flags->sampling);
  add_runner_flags(*parser, flags->runner);
  refuse_speculation(*parser);
  return {
      parser,
      [flags](const Environment& environment) { return run(*flags, environment); },
      {{"lagoon generate nano \"What is 17 * 24?\"", "a question, and the answer"},
       {"lagoon generate nano \"Which month comes after May?\" --thinking off --temperature 0", "without thinking, and the likeliest words alone"},
       {"echo \"What is the capital of France?\" | lagoon generate nano - --json", "a question from standard input, the answer as JSON"}}};
}

}  // namespace lagoon
