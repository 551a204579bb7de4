#include "planning/template_generation.h"

#include "base/error.h"
#include "text/jinja/json.h"
#include "text/jinja/render.h"

#include <regex>

namespace lagoon {
namespace {

// A template of a chat format takes some hundred steps for the conversation below.
constexpr jinja::RenderLimits limits = {.output_bytes = 1u << 20, .produced_bytes = 16u << 20, .steps = 200'000};

constexpr std::string_view conversation = R"([{"role": "user", "content": "u"},
  {"role": "assistant", "content": "a", "reasoning": "r", "reasoning_content": "r",
   "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"k": "v"}}}]},
  {"role": "tool", "content": "t"}])";

/// What the template makes of the conversation. @param more  further keys of the context, as JSON
std::string render(const jinja::Template& tree, std::string_view more) {
  const std::string context =
      fmt::format(R"({{"messages": {}, "tools": null, "documents": null, "add_generation_prompt": true{}}})", conversation, more);
  return jinja::render(tree, jinja::read_json(context, "context"), limits).text();
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// The number in the comment that Poolside's templates begin with: laguna_glm_thinking_v5.
std::string stated_version(std::string_view source) {
  static const std::regex pattern("laguna_glm_thinking_(v[0-9]{1,3})");
  const std::string beginning(source.substr(0, 512));
  std::smatch match;
  return std::regex_search(beginning, match, pattern) ? match[1].str() : std::string();
}

TemplateLayout layout_of(const std::string& text) {
  if (holds(text, "<user>u</user>") && holds(text, "<tool_call>f<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>"))
    return TemplateLayout::compact;
  if (holds(text, "<user>\nu\n</user>") && holds(text, "<arg_key>k</arg_key>\n<arg_value>v</arg_value>\n")) return TemplateLayout::newlines;
  return TemplateLayout::other;
}

void look_at_renders(std::string_view source, TemplateGeneration& generation) {
  const auto tree = jinja::compile(source, "chat template");
  const std::string plain = render(*tree, "");
  generation.layout = layout_of(plain);
  if (generation.layout == TemplateLayout::other) return;
  if (plain.ends_with("<think>")) generation.thinks_by_default = true;
  if (plain.ends_with("</think>")) generation.thinks_by_default = false;
  const std::string kept = render(*tree, R"(, "enable_thinking": false, "preserve_thinking": true)");
  generation.preserves_thinking = kept != render(*tree, R"(, "enable_thinking": false)");
  // Without a conversation's own message only a default one has letters in it.
  const size_t begin = plain.find("<system>");
  const size_t end = plain.find("</system>");
  generation.default_system_message = begin != std::string::npos && end != std::string::npos && plain.find_first_not_of(" \n", begin + 8) < end;
  const std::string stated = stated_version(source);
  generation.generation = !stated.empty() ? stated : generation.layout == TemplateLayout::compact ? "v8" : "v4 or v5";
}

}  // namespace

bool is_template_stub(std::string_view source) {
  static const std::regex pattern(R"(\s*\{%-?\s*include\s+['"]chat_template\.jinja['"]\s*-?%\}\s*)");
  return source.size() < 200 && std::regex_match(std::string(source), pattern);
}

TemplateGeneration recognise_template(std::string_view source) {
  TemplateGeneration generation;
  generation.generation = "not recognised";
  if (is_template_stub(source)) {
    generation.layout = TemplateLayout::stub;
    generation.generation = "stub";
    return generation;
  }
  try {
    look_at_renders(source, generation);
  } catch (const Error& error) {
    generation.layout = TemplateLayout::other;
    generation.problem = error.what();
  }
  return generation;
}

std::string describe(const TemplateGeneration& generation) {
  if (generation.layout == TemplateLayout::stub) return "a stub that includes `chat_template.jinja`";
  if (generation.layout == TemplateLayout::other) {
    return "not recognised: it writes none of the known chat formats of Laguna" + (generation.problem.empty() ? "" : " (" + generation.problem + ")");
  }
  std::string text = generation.generation;
  text += generation.layout == TemplateLayout::compact ? " (compact, as GLM-4.7)" : " (newlines inside tags, as GLM-4.5)";
  if (generation.thinks_by_default) text += *generation.thinks_by_default ? ", thinking on by default" : ", thinking off by default";
  if (generation.preserves_thinking) text += ", preserve_thinking";
  if (generation.default_system_message) text += ", default system message";
  return text;
}

}  // namespace lagoon
