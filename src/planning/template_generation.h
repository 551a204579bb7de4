// template_generation.h: which of Laguna's chat formats a template writes, told by what it makes of a small conversation; spelling
// and comments of the template do not matter.
//   compact (from v8 on)   <user>u</user>, <tool_call>f<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>
//   newlines (v4, v5)      <user>\nu\n</user>, <tool_call>f\n<arg_key>k</arg_key>\n<arg_value>v</arg_value>\n</tool_call>
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lagoon {

enum class TemplateLayout { compact, newlines, stub, other };

struct TemplateGeneration {
  TemplateLayout layout = TemplateLayout::other;
  std::string generation;                 // "v8", "v5", "v4 or v5"; "stub"; "not recognised"
  std::optional<bool> thinks_by_default;  // where enable_thinking is not given; nullopt: it writes no such prompt
  bool preserves_thinking = false;        // preserve_thinking keeps past reasoning when thinking is off
  bool default_system_message = false;    // writes one where the conversation has none
  std::string problem;                    // why it could not be rendered
};

/// Never throws for what a template says.
TemplateGeneration recognise_template(std::string_view source);

/// One line for people: "v8: compact, thinking off by default, ...".
std::string describe(const TemplateGeneration& generation);

/// Whether the template does nothing but include the file chat_template.jinja.
bool is_template_stub(std::string_view source);

}  // namespace lagoon
