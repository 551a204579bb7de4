// generate: a prompt in, an answer out.
#include "base/byte_size.h"
#include "base/error.h"
#include "base/json.h"
#include "commands/chat_input.h"
#include "commands/command.h"
#include "commands/interrupt.h"
#include "commands/model_choice.h"
#include "commands/model_options.h"
#include "commands/model_runner.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "engine/generation.h"
#include "text/vocabulary.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <random>
#include <set>

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
  std::vector<std::string> logit_bias;
  SamplingOptions sampling;
  RunnerFlags runner;
  CLI::App* parser = nullptr;

  bool given(const std::string& option) const { return parser->count(option) > 0; }
};

void add_sampling_flags(CLI::App& parser, Flags& flags) {
  SamplingOptions& sampling = flags.sampling;
  parser.add_option("--temperature", sampling.temperature, "0 is greedy (what generation_config.json says, else 1)");
  parser.add_option("--top-k", sampling.top_k, "keep the K likeliest tokens; 0 is off")->transform(whole_number<int64_t>());
  parser.add_option("--top-p", sampling.top_p, "keep the likeliest tokens up to this sum of probabilities; 1 is off");
  parser.add_option("--min-p", sampling.min_p, "keep tokens with at least this share of the largest probability; 0 is off");
  parser.add_option("--repetition-penalty", sampling.repetition_penalty, "divides logits of tokens that were there; 1 is off");
  parser.add_option("--presence-penalty", sampling.presence_penalty, "subtracted from logits of tokens of the answer");
  parser.add_option("--frequency-penalty", sampling.frequency_penalty, "subtracted for each time a token stands in the answer");
  parser.add_option("--logit-bias", flags.logit_bias, "ID=BIAS, added to a token's logit; may be repeated")->allow_extra_args(false);
  parser.add_option("--seed", sampling.seed, "same seed, same text (random)")->transform(whole_number<uint64_t>());
}

std::pair<int32_t, double> parse_bias(const std::string& text) {
  const size_t equals = text.find('=');
  int32_t id = -1;
  double bias = 0.0;
  const char* end = text.data() + text.size();
  const auto whole = [](std::from_chars_result result, const char* last) { return result.ec == std::errc() && result.ptr == last; };
  const bool read = equals != std::string::npos && whole(std::from_chars(text.data(), text.data() + equals, id), text.data() + equals) &&
                    whole(std::from_chars(text.data() + equals + 1, end, bias), end);
  if (!read || id < 0) fail(ErrorKind::invalid, "--logit-bias `{}`: write ID=BIAS, such as 24=-5", printable(text));
  return {id, bias};
}

/// Flags win over generation_config.json, that over the defaults.
SamplingOptions sampling_of(const Flags& flags, const GenerationConfig& advice) {
  SamplingOptions sampling = flags.sampling;
  if (!flags.given("--temperature")) sampling.temperature = advice.do_sample.value_or(true) ? advice.temperature.value_or(1.0) : 0.0;
  if (!flags.given("--top-k")) sampling.top_k = advice.top_k.value_or(0);
  if (!flags.given("--top-p")) sampling.top_p = advice.top_p.value_or(1.0);
  if (!flags.given("--min-p")) sampling.min_p = advice.min_p.value_or(0.0);
  if (!flags.given("--repetition-penalty")) sampling.repetition_penalty = advice.repetition_penalty.value_or(1.0);
  if (!flags.given("--seed")) sampling.seed = (static_cast<uint64_t>(std::random_device()()) << 32) | std::random_device()();
  for (const std::string& text : flags.logit_bias) {
    if (!sampling.logit_bias.insert(parse_bias(text)).second)
      fail(ErrorKind::invalid, "--logit-bias `{}`: this token has a bias already", printable(text));
  }
  check_sampling_options(sampling);
  return sampling;
}

/// Every id that ends an answer: those of generation_config.json and of config.json.
std::vector<int32_t> end_ids(const GenerationConfig& advice, const ModelConfig& config) {
  std::set<int32_t> ids(advice.eos_ids.begin(), advice.eos_ids.end());
  ids.insert(config.eos_ids.begin(), config.eos_ids.end());
  return {ids.begin(), ids.end()};
}

/// Raw text as the tokenizer's own post-processor begins it, unless the text begins so already.
std::vector<int32_t> raw_prompt(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> plain = tokenizer.encode(text);
  std::vector<int32_t> begun = tokenizer.encode(text, true);
  if (begun.size() == plain.size() + 1 && !plain.empty() && begun.front() == plain.front()) return plain;
  return begun;
}

/// PROMPT, or standard input for "-". `echo` and editors end a text with a newline that nobody means to say; raw text is exact.
std::string prompt_of(const Flags& flags) {
  if (flags.prompt != "-") return flags.prompt;
  std::string prompt = read_input(input_limit);
  if (!flags.raw && prompt.ends_with('\n')) prompt.pop_back();
  return prompt;
}

std::vector<int32_t> prompt_ids(const Flags& flags, const Tokenizer& tokenizer, const std::filesystem::path& folder, bool thinking) {
  const std::string prompt = prompt_of(flags);
  if (flags.raw) return raw_prompt(tokenizer, prompt);
  ChatInput input = flags.chat;
  input.prompt = prompt;
  input.has_system = flags.given("--system");
  input.thinking = thinking;
  return tokenizer.encode(render_chat(folder, input));
}

void check_flags(const Flags& flags) {
  if (flags.given("PROMPT") == !flags.chat.messages.empty())
    fail(ErrorKind::invalid, "generate needs either a PROMPT or --messages FILE.json, and not both");
  if (flags.raw && (!flags.chat.messages.empty() || !flags.chat.tools.empty() || flags.given("--system") || flags.given("--thinking"))) {
    fail(ErrorKind::invalid, "--raw feeds the prompt as it is: --messages, --tools, --system and --thinking go with a chat template");
  }
  if (!flags.chat.messages.empty() && flags.given("--system"))
    fail(ErrorKind::invalid, "--system goes with a PROMPT; --messages brings its own system message");
  if (flags.given("--max-tokens") && flags.max_tokens < 1) fail(ErrorKind::invalid, "--max-tokens {}: write 1 or more", flags.max_tokens);
  if (flags.given("--context") && flags.runner.context < 1) fail(ErrorKind::invalid, "--context {}: write 1 or more tokens", flags.runner.context);
}

/// Prints pieces as they come. A terminal shows thinking, dimmed where it has styles; elsewhere the answer stands alone,
/// unless thinking is asked for. Without styles it is between <think> and </think>.
class AnswerPrinter {
 public:
  AnswerPrinter(bool terminal, bool colour, bool show_thinking) : colour_(colour), show_thinking_(show_thinking || terminal) {}

  /// However the answer ended, the terminal is left as it was.
  ~AnswerPrinter() {
    if (thinking_ && colour_) write_error("\x1b[0m\n");
  }
  AnswerPrinter(const AnswerPrinter&) = delete;
  AnswerPrinter& operator=(const AnswerPrinter&) = delete;

  void print(const GenerationPiece& piece) {
    if (show_thinking_ && !piece.reasoning.empty()) {
      if (!thinking_) write_output(colour_ ? "\x1b[2m" : "<think>");
      thinking_ = true;
      write_output(piece.reasoning);
      last_ = piece.reasoning.back();
    }
    if (!piece.content.empty()) {
      end_thinking();
      write_output(piece.content);
      last_ = piece.content.back();
    }
    flush_output();
  }

  void finish() {
    end_thinking();
    if (last_ != '\n') write_output("\n");
    flush_output();
  }

 private:
  void end_thinking() {
    if (!thinking_) return;
    thinking_ = false;
    write_output(colour_ ? "\x1b[0m\n" : "</think>\n");
    last_ = '\n';
  }

  bool colour_;
  bool show_thinking_;
  bool thinking_ = false;
  char last_ = '\n';
};

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
  request.sampling = sampling_of(flags, advice);
  request.thinking = !flags.raw && thinking_of(flags.thinking, advice);
  request.prompt = prompt_ids(flags, tokenizer, checkpoint.folder(), request.thinking);
  request.end_ids = end_ids(advice, checkpoint.config());
  request.stop_strings = flags.stop;
  request.max_tokens = flags.max_tokens;
  request.keep_special = flags.raw;

  const int64_t context = flags.runner.context > 0 ? flags.runner.context : std::min(usual_context, checkpoint.config().max_context);
  check_request(request, checkpoint.config().vocabulary, context);
  const PlanRequest plan = {.model = runner_options(flags.runner, checkpoint.config(), context), .text_bytes = text_bytes_of(checkpoint.folder())};
  const LoadedModel loaded = load_model(printable(flags.model, 4096), checkpoint, plan, flags.runner, environment);
  const MemoryBudget::Claim logits = loaded.budget->claim(logits_line, static_cast<uint64_t>(checkpoint.config().vocabulary) * sizeof(float));
  Session session(*loaded.model);
  AnswerPrinter printer(environment.output_is_terminal, environment.colour, flags.show_thinking);
  ProgressLine progress(environment.error_is_terminal, "reading the prompt");
  GenerationEvents events;
  if (!flags.json) events.piece = [&](const GenerationPiece& piece) { printer.print(piece); };
  events.before_step = check_interrupt;
  events.prompt_progress = [&](int64_t done, int64_t total) {
    check_interrupt();
    progress.update(static_cast<uint64_t>(done), static_cast<uint64_t>(total));
  };
  const GenerationResult result = generate(session, tokenizer, request, events);
  if (flags.json) {
    print_json(result, request.sampling.seed, flags.runner.memory_report ? memory_report_json(loaded) : Json());
  } else {
    printer.finish();
    if (flags.runner.memory_report) write_error(memory_report(loaded));
  }
  if (result.stop_reason == StopReason::context_full) {
    write_error(fmt::format("lagoon: the context of {} tokens is full: {} of the prompt and {} of the answer; raise --context to go on\n",
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
  parser->add_option("--messages", flags->chat.messages, "JSON file with a list of OpenAI chat messages instead of a prompt")->check(not_empty());
  parser->add_option("--tools", flags->chat.tools, "JSON file with a list of OpenAI tools")->check(not_empty());
  parser->add_option("--thinking", flags->thinking, "on or off (what generation_config.json says, else on)")->check(not_empty());
  parser->add_flag("--show-thinking", flags->show_thinking, "print the thinking also where the output is no terminal");
  parser->add_flag("--raw", flags->raw, "complete the prompt as it is, without chat template; control tokens in it match");
  parser->add_flag("--json", flags->json, "one JSON object at the end instead of text");
  parser->add_option("--max-tokens", flags->max_tokens, "most tokens to generate (until the context is full)")->transform(whole_number<int64_t>());
  parser->add_option("--stop", flags->stop, "end the answer before this text; may be repeated")->allow_extra_args(false);
  parser->add_option("--context", flags->runner.context, "tokens of prompt and answer together (the checkpoint's, at most 32768)")
      ->transform(whole_number<int64_t>());
  add_sampling_flags(*parser, *flags);
  add_runner_flags(*parser, flags->runner);
  refuse_speculation(*parser);
  return {parser, [flags](const Environment& environment) { return run(*flags, environment); }};
}

}  // namespace lagoon
