// config_toml.h: TOML read into the same values as JSON, with the line of each key.
#pragma once

#include "base/json.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <string_view>

namespace lagoon {

struct TomlText {
  Json document;                     // strings, numbers, true and false, lists and objects
  std::map<std::string, int> lines;  // of each key: "models.s21.model"
};

/// @param what  the file, which begins each sentence
/// @throws Error(corrupt) with line and column for what is no TOML, Error(invalid) for dates, numbers that are not finite, keys of more
/// than 100 parts and values more than 64 deep, which no setting has
TomlText read_toml(std::string_view text, const std::string& what);

}  // namespace lagoon
