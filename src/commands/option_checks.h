// option_checks.h: checks of what is written behind an option, where the command line's parser is too lenient.
#pragma once

#include "base/error.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <string>

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

/// Names of files and the like: an empty one is a variable that was not set, not an option that was not given.
inline CLI::Validator not_empty() {
  return {[](std::string& text) -> std::string { return text.empty() ? "the value is empty" : ""; }, ""};
}

}  // namespace lagoon
