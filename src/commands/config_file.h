// config_file.h: the user's own settings, one JSON object:
//   {"memory_limit": "48GiB", "reserve": "2GiB", "models_dirs": ["/data/models"],
//    "models": {"s21": {"model": "mlx-community/Laguna-S-2.1-oQ4e", "revision": "8e3f5cad", "model_type": "laguna"}}}
// Every key may be absent. An alias names a model, may pin a revision of the Hugging Face cache, and may say what the model_type is
// where config.json of the model says something odd.
#pragma once

#include "checkpoint/model_catalog.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

struct ConfigFile {
  std::optional<uint64_t> memory_limit;  // bytes
  std::optional<uint64_t> reserve;       // bytes
  std::vector<std::filesystem::path> models_dirs;
  std::vector<ModelAlias> aliases;
};

/// @param what  the file, which begins each sentence
/// @param home  the folder that ~/ stands for; empty: there is none
/// @throws Error(invalid) or Error(corrupt), naming the key, what was found and what is understood
ConfigFile parse_config_file(std::string_view text, const std::string& what, const std::filesystem::path& home);

/// @param needed  whether it is an error that there is no such file; without it an absent file says nothing, nor does one in a folder
///                without permission
/// @throws as parse_config_file, and Error(invalid) for a file that cannot be read
ConfigFile read_config_file(const std::filesystem::path& path, bool needed, const std::filesystem::path& home);

/// Where the file is and what it may hold, for --help.
std::string config_file_help(const std::filesystem::path& path);

}  // namespace lagoon
