#include "commands/conversation.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "base/utf8.h"
#include "text/jinja/json.h"

#include <algorithm>
#include <utility>

namespace lagoon {
namespace {

Json message_of(const char* role, const std::string& content) {
  Json message;
  message["role"] = role;
  message["content"] = content;
  return message;
}

bool has_role(const Json& message, const char* role) { return message.is_object() && message.contains("role") && message["role"] == role; }

}  // namespace

void Conversation::clear() {
  const std::optional<std::string> kept = system();
  messages_ = Json::array();
  tokens_ = 0;
  set_system(kept);
  ids_.clear();
  text_.clear();
  marks_.clear();
  held_messages_ = Json::array();
}

std::optional<std::string> Conversation::system() const {
  if (messages_.empty() || !has_role(messages_.front(), "system")) return std::nullopt;
  const Json content = messages_.front().value("content", Json());
  return content.is_string() ? content.get<std::string>() : content.dump();
}

void Conversation::set_system(const std::optional<std::string>& text) {
  if (!messages_.empty() && has_role(messages_.front(), "system")) messages_.erase(messages_.begin());
  if (text) messages_.insert(messages_.begin(), message_of("system", *text));
}

int64_t Conversation::tokens_of(const Json& messages, const std::string& what, bool thinking) const {
  try {
    return static_cast<int64_t>(tokenizer_.encode(render(messages, thinking, false)).size());
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", what, error.what()));
  }
}

void Conversation::load(Json messages, const std::string& what, bool thinking) {
  if (!messages.is_array()) fail(ErrorKind::invalid, "{}: a list of messages was expected, such as /save writes it", what);
  const int64_t tokens = messages.empty() ? 0 : tokens_of(messages, what, thinking);
  messages_ = std::move(messages);
  tokens_ = tokens;
}

std::optional<size_t> Conversation::last_user_at() const {
  for (size_t at = messages_.size(); at > 0; --at) {
    if (has_role(messages_[at - 1], "user")) return at - 1;
  }
  return std::nullopt;
}

std::optional<std::string> Conversation::last_user() const {
  const std::optional<size_t> at = last_user_at();
  if (!at || !messages_[*at].contains("content") || !messages_[*at]["content"].is_string()) return std::nullopt;
  return messages_[*at]["content"].get<std::string>();
}

std::string Conversation::last_thinking() const {
  for (size_t at = messages_.size(); at > 0; --at) {
    if (!has_role(messages_[at - 1], "assistant")) continue;
    const Json thinking = messages_[at - 1].value("reasoning_content", Json());
    return thinking.is_string() ? thinking.get<std::string>() : "";
  }
  return {};
}

MarkedText Conversation::render(const Json& messages, bool thinking, bool generation_prompt) const {
  ChatRequest request;
  request.messages = jinja::read_json(messages.dump(), "the conversation");
  request.thinking = thinking;
  request.add_generation_prompt = generation_prompt;
  return template_.render(request);
}

Conversation::Prompt Conversation::make_prompt(const Json& messages, bool thinking) const {
  const MarkedText rendered = render(messages, thinking, true);
  Prompt prompt = {.text = rendered.text()};
  // Messages are compared, not texts alone: a user who writes a template's tags must not become the template.
  size_t same = 0;
  while (same < std::min(messages.size(), held_messages_.size()) && messages[same] == held_messages_[same]) ++same;
  const size_t shorter = std::min(text_.size(), prompt.text.size());
  const auto common = static_cast<size_t>(
      std::mismatch(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(shorter), prompt.text.begin()).first - text_.begin());
  for (const Mark& mark : marks_) {
    if (mark.messages <= same && mark.bytes <= common) prompt.marks.push_back(mark);
  }
  const Mark from = prompt.marks.empty() ? Mark() : prompt.marks.back();
  prompt.ids.assign(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(from.ids));
  const std::vector<int32_t> rest = tokenizer_.encode(rendered.slice(from.bytes, std::string::npos));
  prompt.ids.insert(prompt.ids.end(), rest.begin(), rest.end());
  return prompt;
}

std::vector<int32_t> Conversation::prompt_ids(const Json& messages, bool thinking) const { return make_prompt(messages, thinking).ids; }

void Conversation::keep(Prompt prompt, Json messages, const AnswerOptions& options, const GenerationResult& result) {
  marks_ = std::move(prompt.marks);
  marks_.push_back({.messages = messages.size(), .bytes = prompt.text.size(), .ids = prompt.ids.size()});
  text_ = std::move(prompt.text);
  ids_ = std::move(prompt.ids);

  Json answer = message_of("assistant", replace_invalid_utf8(result.content));
  if (!result.reasoning.empty()) answer["reasoning_content"] = replace_invalid_utf8(result.reasoning);
  messages.push_back(std::move(answer));

  std::vector<int32_t> said = result.ids;
  const bool ended = !said.empty() && std::find(options.end_ids.begin(), options.end_ids.end(), said.back()) != options.end_ids.end();
  // Before the token that ended it too: a template may write another end than the model did.
  std::optional<int32_t> end;
  if (ended) end = said.back(), said.pop_back();
  text_ += tokenizer_.decode(said);
  ids_.insert(ids_.end(), said.begin(), said.end());
  marks_.push_back({.messages = messages.size(), .bytes = text_.size(), .ids = ids_.size()});
  if (end) {
    text_ += tokenizer_.decode(std::span(&*end, 1));
    ids_.push_back(*end);
    marks_.push_back({.messages = messages.size(), .bytes = text_.size(), .ids = ids_.size()});
  }
  tokens_ = static_cast<int64_t>(ids_.size());
  held_messages_ = messages;
  messages_ = std::move(messages);
}

Turn Conversation::answer_messages(Json messages, const AnswerOptions& options, const GenerationEvents& events) {
  Prompt prompt = make_prompt(messages, options.thinking);
  const auto tokens = static_cast<int64_t>(prompt.ids.size());
  const int64_t context = session_.model().context();
  if (tokens >= context) {
    throw ContextExceeded(ErrorKind::invalid,
                          fmt::format("the conversation with this message has {} tokens, the context holds {}, the answer's among them",
                                      format_count(static_cast<uint64_t>(tokens)), format_count(static_cast<uint64_t>(context))));
  }
  const GenerationRequest request = {.prompt = prompt.ids,
                                     .sampling = options.sampling,
                                     .end_ids = options.end_ids,
                                     .stop_strings = options.stop_strings,
                                     .max_tokens = options.max_tokens,
                                     .thinking = options.thinking};
  Generation generation(session_, tokenizer_, request, events);
  Turn turn;
  try {
    generation.run();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::cancelled || generation.result().ids.empty()) throw;
    turn.stopped = true;
    generation.finish_text();
  }
  turn.result = generation.result();
  keep(std::move(prompt), std::move(messages), options, turn.result);
  return turn;
}

Turn Conversation::answer(const std::string& text, const AnswerOptions& options, const GenerationEvents& events) {
  Json messages = messages_;
  messages.push_back(message_of("user", text));
  return answer_messages(std::move(messages), options, events);
}

Turn Conversation::retry(const AnswerOptions& options, const GenerationEvents& events) {
  Json messages = messages_;
  while (!messages.empty() && has_role(messages.back(), "assistant")) messages.erase(messages.end() - 1);
  if (messages.empty() || has_role(messages.back(), "system")) fail(ErrorKind::invalid, "there is no message yet to answer again; write one");
  return answer_messages(std::move(messages), options, events);
}

Turn Conversation::replace(const std::string& text, const AnswerOptions& options, const GenerationEvents& events) {
  const std::optional<size_t> at = last_user_at();
  if (!at) fail(ErrorKind::invalid, "there is no message yet to change");
  Json messages = messages_;
  messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(*at), messages.end());
  messages.push_back(message_of("user", text));
  return answer_messages(std::move(messages), options, events);
}

}  // namespace lagoon
