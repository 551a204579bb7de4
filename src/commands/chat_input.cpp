#include "commands/chat_input.h"

#include "base/error.h"
#include "base/utf8.h"
#include "commands/output.h"
#include "machine/file.h"
#include "text/jinja/json.h"

#include <nlohmann/json.hpp>

#include <fmt/ranges.h>

namespace lagoon {
namespace {

void append_message(std::vector<jinja::Value>& messages, std::string_view role, const std::string& content, std::string_view what) {
  if (!is_valid_utf8(content)) fail(ErrorKind::invalid, "{} is not valid UTF-8; write it in that encoding", what);
  jinja::Dict message;
  message.set("role", jinja::Value::data(role));
  message.set("content", jinja::Value::data(content));
  messages.push_back(jinja::Value::dict(std::move(message)));
}

jinja::Value messages_of(const ChatInput& input) {
  if (!input.messages.empty()) return read_named_json(input.messages);
  std::vector<jinja::Value> messages;
  if (input.has_system) append_message(messages, "system", input.system, "--system");
  append_message(messages, "user", input.prompt, "the prompt");
  return jinja::Value::list(std::move(messages));
}

bool ends_with_answer(const jinja::Value& messages) {
  if (!messages.is_list() || messages.items().empty() || !messages.items().back().is_dict()) return false;
  const jinja::Value* role = messages.items().back().as_dict().find("role");
  return role != nullptr && role->is_text() && role->bytes() == "assistant";
}

}  // namespace

std::string read_named_text(const std::string& name) { return name == "-" ? read_input(input_limit) : read_text(SystemFiles(), name, input_limit); }

jinja::Value read_named_json(const std::string& name) { return jinja::read_json(read_named_text(name), name == "-" ? "standard input" : name); }

bool thinking_of(const std::string& flag, const GenerationConfig& advice) {
  if (flag.empty()) return advice.thinking.value_or(true);
  if (flag != "on" && flag != "off") fail(ErrorKind::invalid, "--thinking `{}`: write on or off", printable(flag));
  return flag == "on";
}

MarkedText render_chat(const std::filesystem::path& folder, const ChatInput& input, bool* answered) {
  ChatRequest request;
  request.messages = messages_of(input);
  if (!input.tools.empty()) request.tools = read_named_json(input.tools);
  request.thinking = input.thinking;
  if (answered != nullptr) *answered = ends_with_answer(request.messages);
  const ChatTemplate chat_template = ChatTemplate::load(folder);
  try {
    return chat_template.render(request);
  } catch (const Error& error) {
    if (input.messages.empty()) throw;
    // Whatever is wrong with messages, their file is what can be changed.
    throw Error(error.kind(), fmt::format("{}: {}", input.messages == "-" ? "standard input" : printable(input.messages, 4096), error.what()));
  }
}

std::string to_json(std::string_view text) { return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

std::string to_json(std::span<const int32_t> ids) { return fmt::format("[{}]", fmt::join(ids, ", ")); }

}  // namespace lagoon
