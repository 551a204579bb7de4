// generation.h: a prompt in, an answer out, piece by piece.
#pragma once

#include "engine/sampler.h"
#include "engine/session.h"
#include "text/tokenizer.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

enum class StopReason {
  end_token,     // one of the request's end ids
  stop_string,   // one of the request's stop strings
  max_tokens,    // as many as the request allows
  context_full,  // prompt and answer have as many tokens as the model's context
};

/// "end_token", "stop_string", "max_tokens" or "context_full".
const char* name_of(StopReason reason);

struct GenerationRequest {
  std::vector<int32_t> prompt;
  SamplingOptions sampling;
  std::vector<int32_t> end_ids;           // end the answer; their text is not part of it
  std::vector<std::string> stop_strings;  // end the text before their first byte
  int64_t max_tokens = -1;                // negative: no limit but the context
  bool thinking = false;                  // the prompt ends inside <think>
  bool keep_special = false;              // special tokens show as text (completion of raw text)
};

/// A piece of the answer as it becomes certain. Either part may be empty.
struct GenerationPiece {
  std::string reasoning;
  std::string content;
};

struct GenerationResult {
  std::string reasoning;
  std::string content;
  std::vector<int32_t> ids;  // all that were generated, the end id included
  StopReason stop_reason = StopReason::max_tokens;
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;      // of the prompt, that the session had already
  double prompt_seconds = 0.0;    // until the logits of the prompt's last token
  double generate_seconds = 0.0;  // from there to the end
};

struct GenerationEvents {
  std::function<void(const GenerationPiece&)> piece;  // may be empty
  TokenProgress prompt_progress;                      // may be empty
  std::function<void()> before_step;                  // called before each token; throwing ends the generation
};

/// What of a request can be refused without a model: a prompt that leaves the answer no room, options out of range, ids
/// outside the vocabulary, empty stop strings. @throws Error(invalid)
void check_request(const GenerationRequest& request, int64_t vocabulary, int64_t context);

/// One answer in the making. Whatever stops it, what came until then can be had.
class Generation {
 public:
  /// All must outlive it. @throws as check_request
  Generation(Session& session, const Tokenizer& tokenizer, const GenerationRequest& request, const GenerationEvents& events);
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  /// To the end. @throws whatever an event or the model throws; result() is then what there was
  void run();

  /// Lets go of text that was held back since it could have become more; part of run(), needed after it threw.
  void finish_text();

  const GenerationResult& result() const { return result_; }

 private:
  struct Text;
  void answer();

  Session& session_;
  const GenerationRequest& request_;
  const GenerationEvents& events_;
  size_t known_ids_;  // rows of the vocabulary behind them only pad it: no answer has them
  GenerationResult result_;
  std::unique_ptr<Text> text_;
  std::optional<std::chrono::steady_clock::time_point> answer_start_;  // the prompt was processed then
};

/// @throws Error(invalid) if the prompt leaves the answer no room in the context or an option is out of range; whatever an event throws
GenerationResult generate(Session& session, const Tokenizer& tokenizer, const GenerationRequest& request, const GenerationEvents& events);

}  // namespace lagoon
