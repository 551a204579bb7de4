// config_reader.h: typed access to the keys of a JSON object from outside. A key that is null counts as absent; a value of the
// wrong type or outside its range is refused with the key's name. Whole numbers may be written as 2.0.
#pragma once

#include "base/json.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

class ConfigReader {
 public:
  /// @param object  must outlive the reader
  /// @param what    the file, which begins each sentence
  /// @param inside  the key of `object` in the file, such as "rope_parameters"; empty at the top
  /// @throws Error(corrupt) if `object` is no object
  ConfigReader(const Json& object, std::string what, std::string inside = {});

  const Json& object() const { return *object_; }
  const std::string& what() const { return what_; }

  /// nullptr if absent or null.
  const Json* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }

  /// Each throws Error(corrupt) naming file and key, what was found and what was needed.
  std::optional<int64_t> integer(std::string_view key, int64_t least, int64_t most) const;
  std::optional<double> number(std::string_view key, double least, double most) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::vector<int64_t>> integers(std::string_view key, int64_t least, int64_t most) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;
  std::optional<ConfigReader> child(std::string_view key) const;
  /// As child, of a member that is at hand: looking up each of many keys would take time quadratic in their number.
  ConfigReader child_at(std::string_view key, const Json& value) const;

  /// An integer or a list of integers.
  std::optional<std::vector<int64_t>> integer_or_list(std::string_view key, int64_t least, int64_t most) const;

  /// @throws Error(corrupt) naming a key of the object that is not among `known`
  void refuse_other_keys(std::span<const std::string_view> known) const;

  /// "config.json: `rope_parameters.factor`": how a sentence about a key begins.
  std::string about(std::string_view key) const;
  /// Sentence of a value that has another type: "... is "12", a whole number was needed".
  [[noreturn]] void refuse_type(std::string_view key, const Json& value, std::string_view needed) const;

 private:
  int64_t to_integer(std::string_view key, const Json& value, int64_t least, int64_t most) const;

  const Json* object_;
  std::string what_;
  std::string inside_;
};

/// A value as it stands in the file, cut to a length fit for a sentence.
std::string shown(const Json& value);

}  // namespace lagoon
