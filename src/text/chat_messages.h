// chat_messages.h: a conversation as OpenAI clients send it, made ready for a chat template, as transformers'
// apply_chat_template does: keys whose value is null are dropped, and reasoning goes by all the names that templates read.
// Arguments of tool calls that are JSON text become mappings, since templates walk them; a string in a list of parts becomes a
// part of type text, since templates ask each part for its type.
#pragma once

#include "text/jinja/value.h"

namespace lagoon {

/// @param messages  a list of at most 100,000 objects, each with a string `role`; `content` a string, null, absent, or a list of parts
///                  (objects or strings); `reasoning_content` and `thinking` a string, null or absent; `tool_calls` null, absent, or a list of
///                  objects with a `function`
/// @throws Error(invalid) naming the path of what is wrong, such as `messages[2].role`; also for an empty conversation
jinja::Value prepare_messages(const jinja::Value& messages);

/// Nothing, null and the empty list become none; otherwise a list of objects.
/// @throws Error(invalid) naming the path
jinja::Value prepare_tools(const jinja::Value& tools);

}  // namespace lagoon
