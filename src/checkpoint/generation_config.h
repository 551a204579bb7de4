// generation_config.h: generation_config.json, the publisher's advice for sampling. Each key may be absent; nothing is
// defaulted here, so that flags, this file and the program's own defaults can be told apart.
#pragma once

#include "base/json.h"
#include "machine/file.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace lagoon {

constexpr uint64_t generation_config_limit = 1 << 20;  // bytes of the file

struct GenerationConfig {
  std::optional<bool> do_sample;  // false: greedy, whatever else is said
  std::optional<double> temperature;
  std::optional<int64_t> top_k;  // 0: all tokens
  std::optional<double> top_p;
  std::optional<double> min_p;
  std::optional<double> repetition_penalty;
  std::optional<bool> thinking;  // default_chat_template_kwargs.enable_thinking
  std::vector<int32_t> eos_ids;  // of eos_token_id, a number or a list; empty if absent
};

/// @throws Error(corrupt) naming `what` (the file) and the key for a value of the wrong type or out of range
GenerationConfig read_generation_config(const Json& document, std::string_view what);

/// The file in `folder`; all keys absent if there is none.
/// @throws Error as above, and as read_text
GenerationConfig load_generation_config(const std::filesystem::path& folder, const Files& files);

}  // namespace lagoon
