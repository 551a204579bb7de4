// tokenizer_config.h: what Lagoon reads of tokenizer_config.json beside the chat template: the special tokens by their names.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lagoon {

constexpr uint64_t tokenizer_config_limit = uint64_t{16} << 20;  // bytes
constexpr const char* tokenizer_config_file = "tokenizer_config.json";

/// The file of a model folder; an empty object if there is none.
/// @throws Error(io), Error(corrupt) where it holds no JSON object
Json load_tokenizer_config(const std::filesystem::path& folder);

/// `bos_token`, `eos_token` and so on, and their texts; keys that are absent or null are left out.
/// @param what  the file, which begins the sentence of an error
/// @throws Error(corrupt) naming the key for a value that is neither a string nor an object with a string `content`
std::vector<std::pair<std::string, std::string>> special_tokens_of(const Json& tokenizer_config, std::string_view what);

}  // namespace lagoon
