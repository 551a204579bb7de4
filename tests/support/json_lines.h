// json_lines.h: golden files of one JSON object a line.
#pragma once

#include "text/jinja/json.h"

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace lagoon::testing_support {

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The objects of a file. Lines end at LF alone: texts may hold any other line break.
inline std::vector<jinja::Value> read_json_lines(const std::string& path) {
  const std::string text = read_text(path);
  std::vector<jinja::Value> rows;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) rows.push_back(jinja::read_json(std::string_view(text).substr(begin, end - begin), path));
    begin = end + 1;
  }
  return rows;
}

/// A member that must be there.
inline const jinja::Value& member(const jinja::Value& object, const char* name) {
  const jinja::Value* found = object.as_dict().find(name);
  if (found == nullptr) throw std::runtime_error(std::string("no member ") + name);
  return *found;
}

/// A member, or none.
inline jinja::Value member_or_none(const jinja::Value& object, const char* name) {
  const jinja::Value* found = object.as_dict().find(name);
  return found == nullptr ? jinja::Value::none() : *found;
}

}  // namespace lagoon::testing_support
