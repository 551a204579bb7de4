// tokenizer_goldens.h: reading tests/golden/tokenizer.
#pragma once

#include "base/json.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon::testing_support {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::filesystem::path tokenizer_golden(std::string_view name) { return std::filesystem::path(LAGOON_GOLDEN_DIR) / "tokenizer" / name; }

/// One JSON value a line; only \n ends a line.
inline std::vector<Json> read_json_lines(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  std::vector<Json> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    if (end > begin) lines.push_back(parse_json(std::string_view(text).substr(begin, end - begin), path.string()));
    begin = end + 1;
  }
  return lines;
}

using Ids = std::vector<int32_t>;

}  // namespace lagoon::testing_support
