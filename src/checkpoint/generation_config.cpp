#include "checkpoint/generation_config.h"

#include "base/error.h"
#include "checkpoint/config_reader.h"
#include "machine/file.h"

#include <limits>
#include <system_error>

namespace lagoon {

GenerationConfig read_generation_config(const Json& document, std::string_view what) {
  const ConfigReader reader(document, std::string(what));
  GenerationConfig config;
  config.do_sample = reader.boolean("do_sample");
  config.temperature = reader.number("temperature", 0.0, 1e6);
  config.top_k = reader.integer("top_k", -1, std::numeric_limits<int32_t>::max());
  if (config.top_k == -1) config.top_k = 0;  // as vLLM writes "all tokens"
  config.top_p = reader.number("top_p", 0.0, 1.0);
  config.min_p = reader.number("min_p", 0.0, 1.0);
  config.repetition_penalty = reader.number("repetition_penalty", 1e-6, 1e6);
  if (const auto arguments = reader.child("default_chat_template_kwargs")) config.thinking = arguments->boolean("enable_thinking");
  for (const int64_t id : reader.integer_or_list("eos_token_id", 0, std::numeric_limits<int32_t>::max()).value_or(std::vector<int64_t>{})) {
    config.eos_ids.push_back(static_cast<int32_t>(id));
  }
  return config;
}

GenerationConfig load_generation_config(const std::filesystem::path& folder, const Files& files) {
  const std::filesystem::path path = folder / "generation_config.json";
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  const std::string what = printable_path(path);
  return read_generation_config(parse_json(read_text(files, path, generation_config_limit), what), what);
}

}  // namespace lagoon
