#include "engine/generation.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "engine/token_ids.h"
#include "text/reasoning_splitter.h"
#include "text/stop_strings.h"

#include <algorithm>
#include <chrono>

namespace lagoon {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool is_tag(std::string_view token) { return token == "<think>" || token == "</think>" || token == "<tool_call>" || token == "</tool_call>"; }

/// Token ids become characters, characters pass the stop strings, what is left is reasoning or content.
class AnswerText {
 public:
  AnswerText(const Tokenizer& tokenizer, const GenerationRequest& request, const GenerationEvents& events, GenerationResult& result)
      : tokenizer_(tokenizer),
        decoder_(tokenizer, !request.keep_special),
        stops_(request.stop_strings),
        splitter_(request.thinking),
        events_(events),
        result_(result) {}

  void push(int32_t token) {
    // A tag parts the answer even where a tokenizer calls it special and its text would be left out.
    const bool tag = is_tag(tokenizer_.token_of(token));
    show(splitter_.push(stops_.push(tag ? decoder_.flush() + tokenizer_.token_of(token) : decoder_.push(token))));
  }

  bool stopped() const { return stops_.stopped(); }

  /// Lets go of everything held back. The last characters can still complete a stop string.
  void finish() {
    show(splitter_.push(stops_.push(decoder_.flush())));
    show(splitter_.push(stops_.finish()));
    show(splitter_.finish());
  }

 private:
  void show(ReasoningSplitter::Parts parts) {
    result_.reasoning += parts.reasoning;
    result_.content += parts.content;
    if (events_.piece && !(parts.reasoning.empty() && parts.content.empty())) events_.piece({std::move(parts.reasoning), std::move(parts.content)});
  }

  const Tokenizer& tokenizer_;
  StreamingDecoder decoder_;
  StopStrings stops_;
  ReasoningSplitter splitter_;
  const GenerationEvents& events_;
  GenerationResult& result_;
};

}  // namespace

const char* name_of(StopReason reason) {
  switch (reason) {
    case StopReason::end_token:
      return "end_token";
    case StopReason::stop_string:
      return "stop_string";
    case StopReason::max_tokens:
      return "max_tokens";
    case StopReason::context_full:
      return "context_full";
  }
  return "";
}

void check_request(const GenerationRequest& request, int64_t vocabulary, int64_t context) {
  const auto tokens = static_cast<int64_t>(request.prompt.size());
  if (tokens >= context) {
    fail(ErrorKind::invalid,
         "the prompt has {} tokens, the context holds {}, the answer's among them; shorten the prompt, or give a larger --context where the "
         "checkpoint has one",
         format_count(static_cast<uint64_t>(tokens)), format_count(static_cast<uint64_t>(context)));
  }
  check_token_ids(request.prompt, vocabulary);
  check_sampling_options(request.sampling);
  for (const auto& [token, bias] : request.sampling.logit_bias) {
    if (token >= vocabulary) fail(ErrorKind::invalid, "logit bias: token {} is outside the vocabulary of {}", token, vocabulary);
  }
  const StopStrings strings(request.stop_strings);
}

struct Generation::Text {
  AnswerText answer;
  bool finished = false;
};

Generation::Generation(Session& session, const Tokenizer& tokenizer, const GenerationRequest& request, const GenerationEvents& events)
    : session_(session),
      request_(request),
      events_(events),
      known_ids_(static_cast<size_t>(std::min(session.model().config().vocabulary, tokenizer.vocabulary_size()))) {
  check_request(request, session.model().config().vocabulary, session.model().context());
  result_.prompt_tokens = static_cast<int64_t>(request.prompt.size());
  text_ = std::make_unique<Text>(Text{AnswerText(tokenizer, request, events, result_)});
}

Generation::~Generation() = default;

void Generation::run() {
  if (request_.max_tokens == 0) return;
  const auto start = std::chrono::steady_clock::now();
  result_.reused_tokens = session_.sync(request_.prompt, events_.prompt_progress).reused;
  result_.prompt_seconds = seconds_since(start);

  answer_start_ = std::chrono::steady_clock::now();
  answer();
  finish_text();
  if (text_->answer.stopped()) result_.stop_reason = StopReason::stop_string;
}

void Generation::answer() {
  Sampler sampler(request_.sampling);
  sampler.see_prompt(request_.prompt);
  while (true) {
    if (events_.before_step) events_.before_step();
    const int32_t token = sampler.sample(session_.logits().first(known_ids_));
    result_.ids.push_back(token);
    if (std::find(request_.end_ids.begin(), request_.end_ids.end(), token) != request_.end_ids.end()) {
      result_.stop_reason = StopReason::end_token;
      return;
    }
    text_->answer.push(token);
    if (text_->answer.stopped()) {
      result_.stop_reason = StopReason::stop_string;
      return;
    }
    if (static_cast<int64_t>(result_.ids.size()) == request_.max_tokens) return;
    if (result_.prompt_tokens + static_cast<int64_t>(result_.ids.size()) == session_.model().context()) {
      result_.stop_reason = StopReason::context_full;
      return;
    }
    session_.append(token);
  }
}

void Generation::finish_text() {
  if (text_->finished) return;
  text_->finished = true;
  text_->answer.finish();
  if (answer_start_) result_.generate_seconds = seconds_since(*answer_start_);
}

GenerationResult generate(Session& session, const Tokenizer& tokenizer, const GenerationRequest& request, const GenerationEvents& events) {
  Generation generation(session, tokenizer, request, events);
  generation.run();
  return generation.result();
}

}  // namespace lagoon
