#include "text/chat_messages.h"

#include "base/error.h"
#include "text/jinja/json.h"

#include <array>
#include <string>
#include <string_view>

namespace lagoon {
namespace {

using jinja::Dict;
using jinja::Value;

// The names under which clients send reasoning; the first is the one that templates agree on.
constexpr std::array<std::string_view, 3> reasoning_fields = {"reasoning_content", "thinking", "reasoning"};

constexpr size_t most_messages = 100'000;

/// What a value is, in the words of JSON.
const char* json_word(const Value& value) {
  if (value.is_none() || value.is_missing()) return "null";
  if (value.is_boolean()) return value.as_boolean() ? "true" : "false";
  if (value.is_number()) return "a number";
  if (value.is_text()) return "a string";
  return value.is_dict() ? "an object" : "a list";
}

/// @param value  null where the key is missing
void check_string(const Value* value, const std::string& path) {
  if (value == nullptr) fail(ErrorKind::invalid, "`{}` is missing; it must be a string", path);
  if (!value->is_text()) fail(ErrorKind::invalid, "`{}` must be a string, not {}", path, json_word(*value));
}

bool is_absent(const Value* value) { return value == nullptr || value->is_none(); }

const std::vector<Value>& list_at(const Value& value, const std::string& path) {
  if (!value.is_list()) fail(ErrorKind::invalid, "`{}` must be a list, not {}", path, json_word(value));
  return value.items();
}

const Dict& object_at(const Value& value, const std::string& path) {
  if (!value.is_dict()) fail(ErrorKind::invalid, "`{}` must be an object, not {}", path, json_word(value));
  return value.as_dict();
}

void check_part(const Dict& part, const std::string& path) {
  const Value* type = part.find("type");
  check_string(type, path + ".type");
  if (type->bytes() == "text") check_string(part.find("text"), path + ".text");
}

Value text_part(const Value& text) {
  Dict part;
  part.set("type", Value::data("text"));
  part.set("text", text);
  return Value::dict(std::move(part));
}

Value prepared_content(const Value& content, const std::string& path) {
  if (content.is_text()) return content;
  if (!content.is_list()) {
    fail(ErrorKind::invalid, "`{}` must be a string, null or a list of parts, not {}", path, json_word(content));
  }
  std::vector<Value> parts;
  parts.reserve(content.items().size());
  for (const Value& part : content.items()) {
    if (!part.is_dict() && !part.is_text()) {
      fail(ErrorKind::invalid, "`{}[{}]` must be an object or a string, not {}", path, parts.size(), json_word(part));
    }
    if (part.is_dict()) check_part(part.as_dict(), fmt::format("{}[{}]", path, parts.size()));
    parts.push_back(part.is_text() ? text_part(part) : part);
  }
  return Value::list(std::move(parts));
}

Value parsed_arguments(const Value* arguments, const std::string& path) {
  if (is_absent(arguments) || (arguments->is_text() && arguments->bytes().empty())) return Value::dict({});
  if (arguments->is_dict()) return *arguments;
  constexpr std::string_view advice = "; send the arguments as one JSON object in a string";
  Value parsed = arguments->is_text() ? jinja::read_json(arguments->bytes(), "`" + path + "`", advice) : *arguments;
  if (!parsed.is_dict()) fail(ErrorKind::invalid, "`{}` must hold a JSON object, not {}{}", path, json_word(parsed), advice);
  return parsed;
}

Value prepared_call(const Value& call, const std::string& path) {
  const Value* function = object_at(call, path).find("function");
  if (function == nullptr) fail(ErrorKind::invalid, "`{}.function` is missing", path);
  Dict prepared = object_at(*function, path + ".function");
  const Value* name = prepared.find("name");
  check_string(name, path + ".function.name");
  prepared.set("arguments", parsed_arguments(prepared.find("arguments"), path + ".function.arguments"));
  Dict out = call.as_dict();
  out.set("function", Value::dict(std::move(prepared)));
  return Value::dict(std::move(out));
}

Value prepared_calls(const Value& calls, const std::string& path) {
  const std::vector<Value>& given = list_at(calls, path);
  std::vector<Value> out;
  out.reserve(given.size());
  for (const Value& call : given) out.push_back(prepared_call(call, fmt::format("{}[{}]", path, out.size())));
  return Value::list(std::move(out));
}

Value prepared_message(const Value& message, const std::string& path) {
  const Dict& given = object_at(message, path);
  const Value* role = given.find("role");
  check_string(role, path + ".role");
  // Under its oldest name, `reasoning`, templates take reasoning of any type and show what is a string.
  for (const char* field : {"reasoning_content", "thinking"}) {
    const Value* value = given.find(field);
    if (!is_absent(value)) check_string(value, fmt::format("{}.{}", path, field));
  }

  Dict out;
  const Value* reasoning = nullptr;
  for (const std::string_view field : reasoning_fields) {
    if (is_absent(reasoning)) reasoning = given.find(field);
  }
  if (!is_absent(reasoning)) out.set("thinking", *reasoning);
  for (const auto& [key, value] : given.entries()) {
    if (value.is_none()) continue;
    if (key.bytes() == "tool_calls") {
      out.set(key, prepared_calls(value, path + ".tool_calls"));
    } else {
      out.set(key, key.bytes() == "content" ? prepared_content(value, path + ".content") : value);
    }
  }
  if (!is_absent(reasoning)) out.set("reasoning_content", *reasoning);
  return Value::dict(std::move(out));
}

}  // namespace

Value prepare_messages(const Value& messages) {
  const std::vector<Value>& given = list_at(messages, "messages");
  if (given.empty()) fail(ErrorKind::invalid, "`messages` is empty; send at least one message");
  if (given.size() > most_messages) {
    fail(ErrorKind::invalid, "`messages` has {} messages, at most {} are taken; leave the oldest out", given.size(), most_messages);
  }
  std::vector<Value> out;
  out.reserve(given.size());
  for (const Value& message : given) out.push_back(prepared_message(message, fmt::format("messages[{}]", out.size())));
  return Value::list(std::move(out));
}

Value prepare_tools(const Value& tools) {
  if (tools.is_missing() || tools.is_none()) return Value::none();
  const std::vector<Value>& given = list_at(tools, "tools");
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string path = fmt::format("tools[{}]", i);
    const Dict& tool = object_at(given[i], path);
    const Value* function = tool.find("function");
    if (function != nullptr) {
      check_string(object_at(*function, path + ".function").find("name"), path + ".function.name");
    } else if (const Value* name = tool.find("name")) {  // the function itself, as transformers takes it too
      check_string(name, path + ".name");
    } else {
      fail(ErrorKind::invalid, "`{}.function` is missing; it must be an object", path);
    }
  }
  return given.empty() ? Value::none() : tools;
}

}  // namespace lagoon
