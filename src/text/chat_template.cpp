#include "text/chat_template.h"

#include "base/error.h"
#include "base/impostor.h"
#include "base/json.h"
#include "base/utf8.h"
#include "machine/file.h"
#include "text/chat_messages.h"
#include "text/tokenizer_config.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <optional>
#include <string_view>

namespace lagoon {
namespace {

namespace fs = std::filesystem;
using jinja::Value;

constexpr const char* template_file = "chat_template.jinja";

/// The bytes of a regular file, or nothing where there is no file.
std::optional<std::string> read_template(const fs::path& path) {
  std::error_code error;  // a link that leads nowhere is a fault, not an absent file
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return std::nullopt;
  return read_text(SystemFiles(), path, chat_template_limit);
}

std::shared_ptr<const jinja::Template> compile_text(const std::string& source, const std::string& name) {
  if (source.size() > chat_template_limit)
    fail(ErrorKind::unsupported, "{}: the template has {} bytes, the limit is {}", name, source.size(), chat_template_limit);
  refuse_other_encoding(source, name);
  if (const size_t nul = source.find('\0'); nul != std::string::npos) {
    fail(ErrorKind::corrupt, "{}: the template has a NUL byte at byte {}, which no text has; fetch it again", name, nul + 1);
  }
  if (!is_valid_utf8(source)) fail(ErrorKind::corrupt, "{}: the template is not valid UTF-8", name);
  return jinja::compile(source, name);
}

/// Gives a template the files of its own folder, and no others.
jinja::Loader loader_of(const fs::path& folder) {
  if (folder.empty()) return {};
  return [folder](const std::string& name) -> std::shared_ptr<const jinja::Template> {
    const bool bare = !name.empty() && name.size() < 256 && name != "." && name != ".." && name.find_first_of("/\\") == std::string::npos &&
                      name.find('\0') == std::string::npos;
    if (!bare) {
      fail(ErrorKind::invalid, "a chat template includes `{}`; only a file beside it may be included, by its bare name", printable(name, 300));
    }
    const auto source = read_template(folder / name);
    return source ? compile_text(*source, name) : nullptr;
  };
}

/// The template called `name` in a list of {name, template}, or null.
const Json* named_template(const Json& list, std::string_view name) {
  for (const Json& row : list) {
    if (row.is_object() && row.contains("name") && row["name"] == name && row.contains("template") && row["template"].is_string()) {
      return &row["template"];
    }
  }
  return nullptr;
}

}  // namespace

ChatTemplate ChatTemplate::load(const fs::path& folder) {
  ChatTemplate out;
  out.folder_ = folder;
  const std::string config_name = printable_path(folder / tokenizer_config_file);
  const Json config = load_tokenizer_config(folder);
  for (const auto& [name, text] : special_tokens_of(config, config_name)) {
    out.special_tokens_.emplace_back(name, Value::text(text, Origin::from_template));
  }
  if (const auto source = read_template(folder / template_file)) {
    refuse_impostor(*source, printable_path(folder / template_file), "a chat template");
    if (source->find_first_not_of(" \t\r\n") == std::string::npos)
      fail(ErrorKind::corrupt, "{}: the chat template is empty; fetch it again, or use --raw to send the text as it is",
           printable_path(folder / template_file));
    out.plain_ = compile_text(*source, template_file);
    return out;
  }
  const Json given = config.value("chat_template", Json());
  const std::string name = std::string(tokenizer_config_file) + ": chat_template";
  if (given.is_string()) {
    out.plain_ = compile_text(given.get<std::string>(), name);
  } else if (given.is_array()) {
    const Json* plain = named_template(given, "default");
    const Json* with_tools = named_template(given, "tool_use");
    if (plain == nullptr) fail(ErrorKind::unsupported, "{}: `chat_template` is a list without a template called `default`", config_name);
    out.plain_ = compile_text(plain->get<std::string>(), name);
    if (with_tools != nullptr) out.with_tools_ = compile_text(with_tools->get<std::string>(), name);
  } else if (!given.is_null()) {
    fail(ErrorKind::corrupt, "{}: `chat_template` is {}, a text or a list of named templates was needed", config_name, printable(given.dump(), 60));
  } else {
    fail(ErrorKind::unsupported, "{}: there is no chat template ({} or `chat_template` in {}); use --raw to send the text as it is",
         printable_path(folder), template_file, tokenizer_config_file);
  }
  return out;
}

ChatTemplate ChatTemplate::from_source(const std::string& source, const std::string& name) {
  ChatTemplate out;
  out.plain_ = compile_text(source, name);
  return out;
}

MarkedText ChatTemplate::render(const ChatRequest& request, const jinja::RenderLimits& limits) const {
  jinja::Dict context;
  for (const auto& [name, value] : special_tokens_) context.set(name, value);
  const Value tools = prepare_tools(request.tools);
  for (const auto& [name, value] : request.options) {
    for (const std::string_view own : {"messages", "tools", "documents", "add_generation_prompt", "enable_thinking"}) {
      if (name == own) fail(ErrorKind::invalid, "`{}` cannot be passed as an option of the chat template", name);
    }
    context.set(name, value);
  }
  context.set("messages", prepare_messages(request.messages));
  context.set("tools", tools);
  context.set("documents", Value::none());
  context.set("add_generation_prompt", Value::boolean(request.add_generation_prompt));
  context.set("enable_thinking", Value::boolean(request.thinking));
  const bool use_tools = !tools.is_none() && with_tools_ != nullptr;
  return jinja::render(use_tools ? *with_tools_ : *plain_, Value::dict(std::move(context)), limits, loader_of(folder_));
}

}  // namespace lagoon
