// conversation.h: the messages of a chat, and the tokens that the model has of them. No terminal.
// The ids that were fed and generated are the truth: the next prompt is those of them whose text the template renders again, and the encoding
// of what comes after. So a turn processes only what is new, and an answer is never encoded another way than it was generated.
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "engine/generation.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

/// What an answer is generated with, beside the conversation.
struct AnswerOptions {
  SamplingOptions sampling;
  std::vector<int32_t> end_ids;
  std::vector<std::string> stop_strings;
  int64_t max_tokens = -1;
  bool thinking = true;
};

/// A conversation that leaves no room for an answer.
class ContextExceeded : public Error {
 public:
  using Error::Error;
};

/// One turn.
struct Turn {
  GenerationResult result;
  bool stopped = false;  // by Ctrl-C; what had come is kept
};

class Conversation {
 public:
  /// All must outlive it.
  Conversation(const Tokenizer& tokenizer, const ChatTemplate& chat_template, Session& session)
      : tokenizer_(tokenizer), template_(chat_template), session_(session), messages_(Json::array()) {}

  /// A list of OpenAI messages: role, content, reasoning_content for thinking, and whatever else a loaded file had.
  const Json& messages() const { return messages_; }

  /// Without the messages but with the system message, which is a setting.
  void clear();

  /// The system message; nullopt: none, so that the template's own counts.
  std::optional<std::string> system() const;
  /// nullopt takes it away.
  void set_system(const std::optional<std::string>& text);

  /// Takes the messages over if the template can render them. @param what  the file, which begins the sentence of an error
  /// @throws Error; nothing has changed then
  void load(Json messages, const std::string& what, bool thinking);

  /// The text of the last user message; nullopt if there is none or it is no plain text.
  std::optional<std::string> last_user() const;

  /// The thinking of the last answer; empty if there was none.
  std::string last_thinking() const;

  /// Adds a user message and answers it. @throws Error(invalid) with the numbers if it does not fit the context; whatever the events throw,
  /// unless part of the answer had come by an Error(cancelled): then the turn is a stopped one. The conversation is unchanged after a throw.
  Turn answer(const std::string& text, const AnswerOptions& options, const GenerationEvents& events);

  /// Answers again what stands before the last answer: a user message, or the result of a tool. @throws as answer(); Error(invalid) if there is
  /// nothing
  Turn retry(const AnswerOptions& options, const GenerationEvents& events);

  /// Puts `text` in the place of the last user message and answers it. @throws as retry()
  Turn replace(const std::string& text, const AnswerOptions& options, const GenerationEvents& events);

  /// The ids of a prompt that answers `messages`.
  std::vector<int32_t> prompt_ids(const Json& messages, bool thinking) const;

  /// Tokens of the conversation that the model would go on from.
  int64_t tokens() const { return tokens_; }

 private:
  /// A place in the held text at which it may be cut.
  struct Mark {
    size_t messages = 0;  // so many are rendered before it
    size_t bytes = 0;
    size_t ids = 0;
  };

  struct Prompt {
    std::string text;
    std::vector<int32_t> ids;
    std::vector<Mark> marks;  // those of the held text that it has too
  };

  int64_t tokens_of(const Json& messages, const std::string& what, bool thinking) const;
  MarkedText render(const Json& messages, bool thinking, bool generation_prompt) const;
  Prompt make_prompt(const Json& messages, bool thinking) const;
  std::optional<size_t> last_user_at() const;
  Turn answer_messages(Json messages, const AnswerOptions& options, const GenerationEvents& events);
  void keep(Prompt prompt, Json messages, const AnswerOptions& options, const GenerationResult& result);

  const Tokenizer& tokenizer_;
  const ChatTemplate& template_;
  Session& session_;
  Json messages_;
  int64_t tokens_ = 0;

  // What was fed and generated at last: text as the template has it, its ids, and the messages it came from.
  Json held_messages_;
  std::string text_;
  std::vector<int32_t> ids_;
  std::vector<Mark> marks_;  // ascending
};

}  // namespace lagoon
