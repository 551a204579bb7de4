// chat_template.h: the chat template of a model folder, and a conversation rendered with it.
// What is found first counts: chat_template.jinja; then `chat_template` in tokenizer_config.json, a string, or a list of
// {name, template} of which "tool_use" is taken for a request with tools, else "default". A template may include other
// files of its folder, by their bare names.
// Everything that the template writes itself, and the special tokens that tokenizer_config.json names, is from_template in
// the result; everything that comes out of the request is from_data, however the template cut and joined it.
// Proof: tests/conformance/text/chat_template_test.cpp (renders made by transformers).
#pragma once

#include "text/jinja/limits.h"
#include "text/jinja/render.h"
#include "text/jinja/value.h"
#include "text/marked_text.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lagoon {

constexpr size_t chat_template_limit = size_t{1} << 20;  // bytes of a template; published ones have less than 30 KB

struct ChatRequest {
  jinja::Value messages;  // as prepare_messages (chat_messages.h) takes them
  jinja::Value tools;     // a list of objects; missing or none: no tools
  bool thinking = false;  // always passed on as enable_thinking
  bool add_generation_prompt = true;
  std::vector<std::pair<std::string, jinja::Value>> options;  // further variables, such as preserve_thinking
};

class ChatTemplate {
 public:
  /// @param folder  a model folder
  /// @throws Error(unsupported) where the folder holds no template, Error(io), Error(corrupt), jinja::TemplateError
  static ChatTemplate load(const std::filesystem::path& folder);

  /// A template without a folder: no special tokens, no includes. @param name  begins the sentence of an error
  /// @throws jinja::TemplateError
  static ChatTemplate from_source(const std::string& source, const std::string& name);

  /// The text that the model is fed. It holds the beginning-of-text token where the template writes one. Thread-safe.
  /// @throws Error(invalid) naming what is wrong in the request, jinja::TemplateError where the template fails or refuses
  MarkedText render(const ChatRequest& request, const jinja::RenderLimits& limits = {}) const;

 private:
  ChatTemplate() = default;

  std::shared_ptr<const jinja::Template> plain_;
  std::shared_ptr<const jinja::Template> with_tools_;  // null: the same
  std::vector<std::pair<std::string, jinja::Value>> special_tokens_;
  std::filesystem::path folder_;  // empty: no includes
};

/// Renders any template with any JSON object as its context; see jinja/render.h.
using jinja::render_template;

}  // namespace lagoon
