// option_checks.h: checks of what is written behind an option, where the command line's parser is too lenient.
#pragma once

#include "base/byte_size.h"
#include "base/error.h"
#include "commands/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lagoon {

/// Whole numbers: decimal digits that fit T, where the parser would take octal and cut off.
template <typename T>
CLI::Validator whole_number() {
  const auto check = [](std::string& text) -> std::string {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return "`" + printable(text) + "` is no whole number in range";
    text = std::to_string(value);  // 010 is ten
    return {};
  };
  return {check, ""};
}

/// Takes whole numbers in a range alone.
inline CLI::Option* number_in(CLI::Option* option, int64_t least, int64_t most = std::numeric_limits<int64_t>::max()) {
  const bool open = most == std::numeric_limits<int64_t>::max();
  const std::string needed = open ? fmt::format("write {} or more", least) : fmt::format("write a number from {} to {}", least, most);
  const std::string name = name_of(*option);
  const auto check = [=](std::string& text) -> std::string {
    const int64_t number = std::stoll(text);
    return number >= least && number <= most ? "" : fmt::format("{} {}: {}", name, text, needed);
  };
  return option->transform(whole_number<int64_t>())->check(CLI::Validator(check, ""));
}

/// Numbers as JSON and C write them, where the parser's own sentence does not say what is wrong with `0,5`.
inline CLI::Validator real_number() {
  const auto check = [](std::string& text) -> std::string {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return {};
    return "`" + printable(text) + "` is no number; write one such as 0.5";
  };
  return {check, ""};
}

/// Names of files and the like: an empty one is a variable that was not set, not an option that was not given.
inline CLI::Validator not_empty() {
  return {[](std::string& text) -> std::string { return text.empty() ? "the value is empty" : ""; }, ""};
}

/// A size such as 48GiB, as base/byte_size.h reads it.
inline CLI::Validator byte_size(const std::string& name) {
  const auto check = [name](std::string& text) -> std::string {
    if (text.empty()) return "the value is empty";
    try {
      (void)parse_byte_size(text, name);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  return {check, ""};
}

/// "a, b or c".
inline std::string either_of(const std::vector<std::string>& words) {
  std::string text;
  for (size_t at = 0; at < words.size(); ++at) text += (at == 0 ? "" : at + 1 == words.size() ? " or " : ", ") + words[at];
  return text;
}

/// Takes one of these words alone; help, completion and the config file know them.
inline CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& words) {
  const std::string name = name_of(*option);
  const auto check = [words, name](std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("{} `{}`: write {}", name, printable(text), either_of(words));
  };
  std::string type;
  for (const std::string& word : words) type += (type.empty() ? "" : "|") + word;
  return option->type_name(type)->check(CLI::Validator(check, ""));
}

/// What says what one run does has no standing default in the config file.
inline CLI::Option* of_one_run(CLI::Option* option) { return option->configurable(false); }

}  // namespace lagoon
