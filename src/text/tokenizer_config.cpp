#include "text/tokenizer_config.h"

#include "base/error.h"
#include "machine/file.h"

#include <nlohmann/json.hpp>

#include <array>

namespace lagoon {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 7> special_tokens = {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

}  // namespace

Json load_tokenizer_config(const fs::path& folder) {
  const fs::path path = folder / tokenizer_config_file;
  std::error_code error;  // a link that leads nowhere is a fault, not an absent file
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return Json::object();
  const std::string name = printable_path(path);
  Json config = parse_json(read_text(SystemFiles(), path, tokenizer_config_limit), name);
  if (!config.is_object()) fail(ErrorKind::corrupt, "{}: the file must hold a JSON object", name);
  return config;
}

std::vector<std::pair<std::string, std::string>> special_tokens_of(const Json& tokenizer_config, std::string_view what) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* name : special_tokens) {
    const auto token = tokenizer_config.find(name);
    if (token == tokenizer_config.end() || token->is_null()) continue;
    const Json& text = token->is_object() && token->contains("content") ? token->at("content") : *token;
    if (!text.is_string()) {
      fail(ErrorKind::corrupt, "{}: `{}` is {}, a text, null or an object with a text as `content` was needed; fetch the file again", what, name,
           printable(token->dump(), 60));
    }
    found.emplace_back(name, text.get<std::string>());
  }
  return found;
}

}  // namespace lagoon
