// score: how likely a model finds a text.
#include "base/error.h"
#include "base/json.h"
#include "checkpoint/generation_config.h"
#include "commands/chat_input.h"
#include "commands/command.h"
#include "commands/interrupt.h"
#include "commands/model_choice.h"
#include "commands/model_options.h"
#include "commands/model_runner.h"
#include "commands/option_checks.h"
#include "commands/output.h"
#include "commands/progress.h"
#include "commands/token_input.h"
#include "engine/scoring.h"
#include "text/vocabulary.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace lagoon {
namespace {

struct Flags {
  std::string model;
  std::string file = "-";
  std::string ids;
  bool json = false;
  bool token_logprobs = false;
  int64_t stride = 0;  // tokens
  RunnerFlags runner;
  CLI::App* parser = nullptr;

  bool given(const std::string& option) const { return parser->count(option) > 0; }
};

/// What is scored, and how its tokens are shown.
struct Text {
  std::vector<int32_t> ids;
  std::optional<Tokenizer> tokenizer;  // nullopt where ids were given
};

Text read_ids(const std::string& path) {
  std::vector<std::vector<int32_t>> lists = read_token_lists(path);
  if (lists.size() != 1) fail(ErrorKind::invalid, "--ids {}: {} lists of token ids, one was expected", printable(path, 4096), lists.size());
  return {.ids = std::move(lists.front())};
}

Text read_text_of(const std::string& file, const Checkpoint& checkpoint) {
  const std::string text = read_named_text(file);
  Text read{.tokenizer = Tokenizer::load(checkpoint.folder() / "tokenizer.json")};
  check_vocabulary(*read.tokenizer, load_generation_config(checkpoint.folder(), SystemFiles()), checkpoint);
  try {
    read.ids = raw_prompt(*read.tokenizer, text);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", file == "-" ? "standard input" : printable(file, 4096), error.what()));
  }
  return read;
}

/// Windows overlap by half where one does not hold the text, so that no token is scored with next to nothing before it.
ScoreOptions score_options(const Flags& flags, const ModelConfig& config) {
  const int64_t context = flags.given("--context") ? flags.runner.context : std::min(usual_context, config.max_context);
  const int64_t stride = flags.given("--stride") ? flags.stride : std::max<int64_t>(1, context / 2);
  if (stride > context) {
    fail(ErrorKind::invalid, "--stride {}: write 1 to {}, the context; tokens between windows would not be scored with more", stride, context);
  }
  return {.context = context, .stride = stride};
}

/// A window is never longer than the text, and nor is the memory for it.
ScoreOptions cut_to(const ScoreOptions& options, int64_t tokens) {
  const int64_t context = std::clamp<int64_t>(tokens, 2, options.context);
  return {.context = context, .stride = std::min(options.stride, context)};
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json summary_json(const ScoreSummary& summary, const Text& text, const ScoreOptions& options, double seconds) {
  Json object;
  object["tokens"] = text.ids.size();
  object["scored_tokens"] = summary.tokens();
  object["mean_nll"] = summary.mean();
  object["standard_error"] = number_or_null(summary.standard_error());
  object["perplexity"] = number_or_null(summary.perplexity());
  object["perplexity_standard_error"] = number_or_null(summary.perplexity_error());
  object["context"] = options.context;
  object["stride"] = options.stride;
  object["seconds"] = seconds;
  return object;
}

std::string token_line(const TokenScore& score, const Text& text) {
  std::string line = fmt::format("{:>8}  {:>6}  {:>10.6f}  {:>6}", score.position, score.id, score.log_probability, score.rank);
  if (text.tokenizer) line += "  " + to_json(text.tokenizer->decode(std::span(&score.id, 1)));
  return line + "\n";
}

Json token_json(const TokenScore& score, const Text& text) {
  Json object = {{"position", score.position}, {"id", score.id}, {"logprob", score.log_probability}, {"rank", score.rank}};
  if (text.tokenizer) object["text"] = text.tokenizer->decode(std::span(&score.id, 1));
  return object;
}

std::string error_text(double error, int digits) { return std::isnan(error) ? "unknown" : fmt::format("{:.{}f}", error, digits); }

void print_summary(const ScoreSummary& summary, const Text& text, const ScoreOptions& options) {
  std::string windows;
  if (static_cast<int64_t>(text.ids.size()) > options.context)
    windows = fmt::format(", in windows of {} that begin every {}", options.context, options.stride);
  write_output(fmt::format("tokens                        {} scored of {}{}\n", summary.tokens(), text.ids.size(), windows));
  write_output(fmt::format("mean negative log likelihood  {:.6f} +- {} nats a token\n", summary.mean(), error_text(summary.standard_error(), 6)));
  write_output(fmt::format("perplexity                    {:.4f} +- {}\n", summary.perplexity(), error_text(summary.perplexity_error(), 4)));
}

int run(const Flags& flags, const Environment& environment) {
  if (flags.given("FILE") && !flags.ids.empty()) fail(ErrorKind::invalid, "score takes either a FILE of text or --ids FILE.json, and not both");
  const Checkpoint checkpoint = open_weights(flags.model, environment);
  const ModelConfig& config = checkpoint.config();
  const Text text = flags.ids.empty() ? read_text_of(flags.file, checkpoint) : read_ids(flags.ids);
  const auto tokens = static_cast<int64_t>(text.ids.size());
  const ScoreOptions asked = score_options(flags, config);
  const ScoreOptions options = cut_to(asked, tokens);
  check_score(text.ids, options, config.vocabulary, config.max_context);
  PlanRequest plan = {.model = runner_options(flags.runner, config, asked.context), .text_bytes = text_bytes_of(checkpoint.folder())};
  plan.model.context = options.context;
  plan.logit_rows = options_of(plan).step_rows;
  const LoadedModel loaded = load_model(printable(flags.model, 4096), checkpoint, plan, flags.runner, environment);
  const uint64_t claimed = static_cast<uint64_t>(plan.logit_rows) * static_cast<uint64_t>(config.vocabulary) * sizeof(float);
  const MemoryBudget::Claim logits = loaded.budget->claim(logits_line, claimed);

  ScoreSummary summary;
  Json listed = Json::array();
  ProgressLine progress(environment.error_is_terminal && !(flags.token_logprobs && !flags.json && environment.output_is_terminal), "scoring",
                        "tokens");
  ScoreEvents events;
  events.token = [&](const TokenScore& score) {
    check_interrupt();  // the logits of a step take a while where the vocabulary is large
    summary.add(score.log_probability);
    if (!flags.token_logprobs) return;
    if (flags.json) {
      listed.push_back(token_json(score, text));
    } else {
      write_output(token_line(score, text));
    }
  };
  events.progress = [&](int64_t processed, int64_t total) {
    check_interrupt();
    progress.update(static_cast<uint64_t>(processed), static_cast<uint64_t>(total));
  };
  if (flags.token_logprobs && !flags.json) write_output("position      id     logprob    rank  token\n");
  const auto start = std::chrono::steady_clock::now();
  score_tokens(*loaded.model, text.ids, options, events);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.json) {
    Json object = summary_json(summary, text, asked, seconds);
    if (flags.token_logprobs) object["token_logprobs"] = std::move(listed);
    if (flags.runner.memory_report) object["memory"] = memory_report_json(loaded);
    write_output(object.dump() + "\n");
  } else {
    print_summary(summary, text, asked);
    if (flags.runner.memory_report) environment.console.report(memory_report(loaded));
  }
  return 0;
}

}  // namespace

Command declare_score(CLI::App& program) {
  CLI::App* parser = program.add_subcommand("score", "Say how likely a model finds a text: mean negative log likelihood and perplexity");
  auto flags = std::make_shared<Flags>();
  flags->parser = parser;
  parser->add_option("MODEL", flags->model, model_help)->required();
  parser->add_option("FILE", flags->file, "the text, in UTF-8 (standard input, which - is too)")->check(not_empty())->type_name("FILE");
  of_one_run(parser->add_option("--ids", flags->ids, "JSON file with a list of token ids instead of a text"))->check(not_empty())->type_name("FILE");
  number_in(parser->add_option("--context", flags->runner.context, "tokens of a window (the checkpoint's, at most 32768)"), 2);
  number_in(parser->add_option("--stride", flags->stride, "tokens from one window's beginning to the next's (half of the context)"), 1);
  parser->add_flag("--json", flags->json, "one JSON object");
  parser->add_flag("--token-logprobs", flags->token_logprobs,
                   "also each token's log probability, and its rank among all tokens (0 is the likeliest)");
  add_runner_flags(*parser, flags->runner);
  refuse_speculation(*parser);
  return {parser,
          [flags](const Environment& environment) { return run(*flags, environment); },
          {{"echo \"The capital of France is Paris.\" | lagoon score nano", "mean negative log likelihood and perplexity, with standard errors"},
           {"echo \"17 * 24 = 408\" | lagoon score nano - --token-logprobs --json", "each token's log probability too, as JSON"}}};
}

}  // namespace lagoon
