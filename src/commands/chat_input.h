// chat_input.h: from files and flags to the text that a model is fed; shared by render and generate.
#pragma once

#include "text/chat_template.h"
#include "text/jinja/value.h"
#include "text/marked_text.h"

#include "checkpoint/generation_config.h"

#include <filesystem>
#include <string>

namespace lagoon {

/// The largest text, template or JSON file that a flag may name, in bytes.
constexpr uint64_t input_limit = 256u << 20;

/// A file, or standard input for "-".
std::string read_named_text(const std::string& name);

/// A JSON file, or standard input for "-". @throws Error(invalid) naming the byte of a fault
jinja::Value read_named_json(const std::string& name);

/// `--thinking on|off`; without it what generation_config.json says, else on.
bool thinking_of(const std::string& flag, const GenerationConfig& advice);

struct ChatInput {
  std::string prompt;  // one user message, where `messages` is empty
  std::string system;  // a system message before it, if there is one: an empty one can switch off a template's own
  bool has_system = false;
  std::string messages;  // file
  std::string tools;     // file; empty: none
  bool thinking = true;
};

/// The conversation rendered by the folder's template, ready for an answer.
/// @param answered  (when given) whether the last message is an answer already
MarkedText render_chat(const std::filesystem::path& folder, const ChatInput& input, bool* answered = nullptr);

/// A string as JSON text.
std::string to_json(std::string_view text);

/// "[1, 2, 3]".
std::string to_json(std::span<const int32_t> ids);

}  // namespace lagoon
