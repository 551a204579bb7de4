#include "commands/token_input.h"

#include "base/error.h"
#include "base/json.h"
#include "commands/chat_input.h"

#include <nlohmann/json.hpp>

#include <cstdint>

namespace lagoon {
namespace {

std::vector<int32_t> read_prompt(const Json& list, const std::string& what) {
  if (!list.is_array() || list.empty()) fail(ErrorKind::invalid, "{}: a list of token ids with at least one id was expected", what);
  std::vector<int32_t> ids;
  ids.reserve(list.size());
  for (const Json& id : list) {
    if (!id.is_number_integer() || id < 0 || id > INT32_MAX)
      fail(ErrorKind::invalid, "{}: {} is no token id; ids are whole numbers from 0 on", what, printable(id.dump()));
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

}  // namespace

std::vector<std::vector<int32_t>> read_token_lists(const std::string& path) {
  Json document = parse_json(read_named_text(path), path == "-" ? "standard input" : path);
  if (document.is_object() && document.contains("ids")) document = Json(document["ids"]);
  std::vector<std::vector<int32_t>> prompts;
  if (document.is_array() && !document.empty() && document.front().is_array()) {
    for (size_t at = 0; at < document.size(); ++at) prompts.push_back(read_prompt(document[at], fmt::format("{}, list {}", path, at)));
  } else {
    prompts.push_back(read_prompt(document, path));
  }
  return prompts;
}

std::vector<int32_t> raw_prompt(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> plain = tokenizer.encode(text);
  std::vector<int32_t> begun = tokenizer.encode(text, true);
  if (begun.size() == plain.size() + 1 && !plain.empty() && begun.front() == plain.front()) return plain;
  return begun;
}

}  // namespace lagoon
