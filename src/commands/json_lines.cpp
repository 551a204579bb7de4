#include "commands/json_lines.h"

#include "base/error.h"
#include "commands/chat_input.h"
#include "commands/interrupt.h"
#include "commands/output.h"
#include "text/jinja/json.h"
#include "text/jinja/template_error.h"

namespace lagoon {
namespace {

/// class and message as the reference implementation's exceptions have them; the place for templates.
std::string error_object(const Error& error) {
  const auto* from_template = dynamic_cast<const jinja::TemplateError*>(&error);
  if (!from_template) return fmt::format(R"({{"error": {{"class": "Error", "message": {}}}}})", to_json(std::string_view(error.what())));
  return fmt::format(R"({{"error": {{"class": {}, "message": {}, "line": {}, "column": {}}}}})",
                     to_json(std::string_view(from_template->error_class())), to_json(std::string_view(from_template->message())),
                     from_template->line(), from_template->column());
}

}  // namespace

int answer_json_lines(const std::string& name, bool shows_progress, const std::function<std::string(const jinja::Value& object)>& answer) {
  const std::string text = read_named_text(name);
  const std::string source = name == "-" ? "standard input" : name;
  leave_in_time();
  int failed = 0;
  size_t number = 0;
  ProgressLine progress(shows_progress, "answering lines", "bytes");
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    check_interrupt();
    progress.update(begin, text.size());
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    std::string answered;
    try {
      const jinja::Value object = jinja::read_json(line, fmt::format("{}, line {}", source, number));
      if (!object.is_dict()) fail(ErrorKind::invalid, "{}, line {}: a JSON object was expected", source, number);
      answered = answer(object);
    } catch (const Error& error) {
      ++failed;
      answered = error_object(error);
    }
    write_output(answered + "\n");
  }
  return failed == 0 ? 0 : 2;
}

const jinja::Value& field_of(const jinja::Value& object, std::string_view key) {
  const jinja::Value* value = object.as_dict().find(key);
  if (!value) fail(ErrorKind::invalid, "the key `{}` is missing", key);
  return *value;
}

const std::string& text_field_of(const jinja::Value& object, std::string_view key) {
  const jinja::Value& value = field_of(object, key);
  if (!value.is_text()) fail(ErrorKind::invalid, "`{}`: a string was expected, this is {}", key, jinja::type_name(value));
  return value.bytes();
}

std::vector<int32_t> ids_field_of(const jinja::Value& object, std::string_view key) {
  const jinja::Value& value = field_of(object, key);
  if (!value.is_list()) fail(ErrorKind::invalid, "`{}`: a list of token ids was expected, this is {}", key, jinja::type_name(value));
  std::vector<int32_t> ids;
  for (const jinja::Value& item : value.items()) {
    const std::optional<int64_t> id = item.is_integer() && !item.is_boolean() ? item.as_small() : std::nullopt;
    if (!id || *id < 0 || *id > INT32_MAX) fail(ErrorKind::invalid, "`{}`: item {} is no token id; ids are whole numbers from 0 on", key, ids.size());
    ids.push_back(static_cast<int32_t>(*id));
  }
  return ids;
}

}  // namespace lagoon
