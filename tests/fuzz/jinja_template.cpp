// A template and its context: the bytes before the first NUL are the source, those behind it JSON. The limits are smaller than those of a chat,
// so that a template that runs into them costs a fuzzer milliseconds.
#include "fuzz/fuzz.h"
#include "text/jinja/json.h"
#include "text/jinja/render.h"

using namespace lagoon;

namespace {

jinja::RenderLimits small_limits() {
  jinja::RenderLimits limits;
  limits.output_bytes = size_t{1} << 20;
  limits.list_items = size_t{1} << 14;
  limits.integer_bits = size_t{1} << 12;
  limits.produced_bytes = size_t{1} << 24;
  limits.steps = 200'000;
  return limits;
}

constexpr std::string_view usual_context =
    R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello", "tool_calls": [{"function": {"name": "f",)"
    R"( "arguments": {"x": 1}}}]}], "tools": null, "enable_thinking": true, "add_generation_prompt": true, "n": 3, "f": 2.5, "s": "text"})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  const size_t border = input.find('\0');
  const std::string_view source = input.substr(0, border);
  jinja::Value context;
  const std::string_view json = border == std::string_view::npos ? usual_context : input.substr(border + 1);
  if (!fuzz::accepts([&] { context = jinja::read_json(json, "context"); })) return 0;
  fuzz::accepts([&] {
    const MarkedText text = jinja::render_template(source, "chat_template.jinja", context, small_limits());
    fuzz::check(text.text().size() <= small_limits().output_bytes, "more output than the limit");
  });
  return 0;
}
