#include "commands/config_toml.h"

#include "base/error.h"

#include <toml++/toml.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace lagoon {
namespace {

constexpr int most_dots = 100;  // in a line

/// The library builds a table inside another for each part of a dotted key, as deep as the line is long, and tears them down one inside
/// the other: a line of a megabyte would exhaust the stack.
void check_dots(std::string_view text, const std::string& what) {
  int line = 1;
  int dots = 0;
  char before = '\n';
  for (const char letter : text) {
    if (letter == '\n') {
      ++line;
      dots = 0;
    }
    if (letter == '.' && before != '.' && ++dots > most_dots)
      fail(ErrorKind::invalid, "{}, line {}: more than {} dots stand in one line; write it in several lines", what, line, most_dots);
    if (letter != ' ' && letter != '\t') before = letter;
  }
}

class Converter {
 public:
  Converter(const std::string& what, std::map<std::string, int>& lines) : what_(what), lines_(lines) {}

  Json convert(const toml::node& node, const std::string& key) {
    const auto line = static_cast<int>(node.source().begin.line);
    if (const toml::table* table = node.as_table()) return convert_table(*table, key);
    if (const toml::array* array = node.as_array()) {
      Json list = Json::array();
      for (const toml::node& item : *array) list.push_back(convert(item, key));
      return list;
    }
    if (const auto* text = node.as_string()) return Json(text->get());
    if (const auto* number = node.as_integer()) return Json(number->get());
    if (const auto* truth = node.as_boolean()) return Json(truth->get());
    const auto* number = node.as_floating_point();
    if (number != nullptr && std::isfinite(number->get())) return Json(number->get());
    fail(ErrorKind::invalid, "{}, line {}: `{}` is {}, which no setting takes; see `lagoon --help`", what_, line, printable(key),
         number != nullptr ? "no finite number" : "a date or a time");
  }

 private:
  Json convert_table(const toml::table& table, const std::string& key) {
    Json object = Json::object();
    std::vector<std::pair<const std::string, Json>>& members = object.get_ref<Json::object_t&>();
    for (const auto& [name, value] : table) {
      const std::string inner = key.empty() ? std::string(name.str()) : key + "." + std::string(name.str());
      lines_.emplace(inner, static_cast<int>(name.source().begin.line));
      // Keys are different already; looking for each among all before it would take a minute where there are a hundred thousand.
      members.emplace_back(std::string(name.str()), convert(value, inner));
    }
    return object;
  }

  const std::string& what_;
  std::map<std::string, int>& lines_;
};

/// "Error while parsing key: ..." of the library as the rest of a sentence.
std::string reason_of(const toml::parse_error& error) {
  std::string reason(error.description());
  while (reason.ends_with('.') || reason.ends_with('\n')) reason.pop_back();
  return printable(reason, 300);
}

}  // namespace

TomlText read_toml(std::string_view text, const std::string& what) {
  check_dots(text, what);
  TomlText read;
  try {
    const toml::table table = toml::parse(text);
    read.document = Converter(what, read.lines).convert(table, "");
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    fail(ErrorKind::corrupt, "{}, line {}, column {}: this is not TOML: {}", what, at.line, at.column, reason_of(error));
  }
  return read;
}

}  // namespace lagoon
