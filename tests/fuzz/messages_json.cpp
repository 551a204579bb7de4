// A conversation of any bytes, prepared and rendered by a template that looks at all of it, and encoded by a tokenizer of bytes.
#include "fuzz/fuzz.h"
#include "text/chat_messages.h"
#include "text/chat_template.h"
#include "text/jinja/json.h"

using namespace lagoon;

namespace {

constexpr const char* source = R"({{- '<s>' -}}
{%- for message in messages -%}
  {{- '<' + message.role + '>' -}}
  {%- if message.content is string -%}{{- message.content -}}
  {%- elif message.content -%}{%- for part in message.content -%}{{- part.text if part.type == 'text' else part | tojson -}}{%- endfor -%}{%- endif -%}
  {{- message.reasoning_content or message.reasoning or '' -}}
  {%- for call in message.tool_calls or [] -%}
    {{- call.function.name -}}
    {%- for key, value in call.function.arguments.items() -%}{{- key -}}={{- value if value is string else value | tojson -}}{%- endfor -%}
  {%- endfor -%}
{%- endfor -%}
{%- for tool in tools or [] -%}{{- tool | tojson -}}{%- endfor -%})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ChatTemplate chat = ChatTemplate::from_source(source, "chat_template.jinja");
  ChatRequest request;
  if (!fuzz::accepts([&] { request.messages = jinja::read_json(fuzz::text_of(data, size), "messages.json"); })) return 0;
  fuzz::accepts([&] { chat.render(request); });
  request.tools = request.messages;
  fuzz::accepts([&] { prepare_tools(request.tools); });
  return 0;
}
