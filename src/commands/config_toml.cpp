#include "commands/config_toml.h"

#include "base/error.h"

#include <toml++/toml.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lagoon {
namespace {

constexpr int most_dots = 100;     // in a line
constexpr int deepest_value = 64;  // lists and tables inside one another

/// The letters of a TOML text that stand outside of its strings and comments, in order.
class BareLetters {
 public:
  explicit BareLetters(std::string_view text) : rest_(text) {}

  /// @return '\0' at the end; where a string stands, its closing quote
  char next() {
    if (rest_.empty()) return '\0';
    if (rest_.front() == '#')
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    else if (rest_.front() == '"' || rest_.front() == '\'')
      return skip_string(rest_.front());
    if (rest_.empty()) return '\0';
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    line_ += letter == '\n';
    return letter;
  }

  int line() const { return line_; }

 private:
  char skip_string(char quote) {
    const std::string three(3, quote);
    const bool block = rest_.starts_with(three);
    const std::string_view end = std::string_view(three).substr(0, block ? 3 : 1);
    size_t at = end.size();
    while (at < rest_.size() && !rest_.substr(at).starts_with(end)) {
      if (rest_[at] == '\\' && quote == '"' && at + 1 < rest_.size()) ++at;
      if (rest_[at] == '\n' && !block) break;  // the library refuses a string that ends so
      line_ += rest_[at++] == '\n';
    }
    at = std::min(at + end.size(), rest_.size());
    // A block may end in quotes of its own: up to two before those that close it.
    for (int own = 0; block && own < 2 && rest_.substr(at).starts_with(quote); ++own) ++at;
    rest_.remove_prefix(at);
    return quote;
  }

  std::string_view rest_;
  int line_ = 1;
};

/// The library calls itself for each list inside a list, and builds a table inside another for each part of a dotted key, which it tears
/// down one inside the other: a deep value or a line of a megabyte would exhaust the stack.
void check_depth(std::string_view text, const std::string& what) {
  BareLetters letters(text);
  int dots = 0;
  int depth = 0;
  char before = '\n';
  while (const char letter = letters.next()) {
    if (letter == '\n') dots = 0;
    if (letter == '.' && before != '.' && ++dots > most_dots)
      fail(ErrorKind::invalid, "{}, line {}: more than {} dots stand in one line; write it in several lines", what, letters.line(), most_dots);
    if (letter == '[' || letter == '{') ++depth;
    if (letter == ']' || letter == '}') depth = std::max(0, depth - 1);
    if (depth > deepest_value)
      fail(ErrorKind::invalid, "{}, line {}: lists and tables stand more than {} deep inside one another; no setting needs that", what,
           letters.line(), deepest_value);
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
  check_depth(text, what);
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
