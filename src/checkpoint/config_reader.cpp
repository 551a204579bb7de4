#include "checkpoint/config_reader.h"

#include "base/error.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lagoon {

std::string shown(const Json& value) { return printable(value.dump(), 60); }

ConfigReader::ConfigReader(const Json& object, std::string what, std::string inside)
    : object_(&object), what_(std::move(what)), inside_(std::move(inside)) {
  if (object_->is_object()) return;
  fail(ErrorKind::corrupt, "{}{} is {}, an object was needed; fetch the file again", what_,
       inside_.empty() ? ": the document" : ": `" + inside_ + "`", shown(*object_));
}

void ConfigReader::refuse_other_keys(std::span<const std::string_view> known) const {
  for (const auto& [key, value] : object_->items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      fail(ErrorKind::corrupt, "{} is no key of this object; keys are {}", about(printable(key)), fmt::join(known, ", "));
  }
}

std::string ConfigReader::about(std::string_view key) const {
  return fmt::format("{}: `{}{}{}`", what_, inside_, inside_.empty() ? "" : ".", printable(key));
}

void ConfigReader::refuse_type(std::string_view key, const Json& value, std::string_view needed) const {
  fail(ErrorKind::corrupt, "{} is {}, {} was needed; fetch the file again or correct it", about(key), shown(value), needed);
}

const Json* ConfigReader::find(std::string_view key) const {
  const auto at = object_->find(std::string(key));
  return at == object_->end() || at->is_null() ? nullptr : &*at;
}

int64_t ConfigReader::to_integer(std::string_view key, const Json& value, int64_t least, int64_t most) const {
  int64_t number = 0;
  if (value.is_number_unsigned()) {
    const auto read = value.get<uint64_t>();
    if (!std::in_range<int64_t>(read)) refuse_type(key, value, fmt::format("a whole number from {} to {}", least, most));
    number = static_cast<int64_t>(read);
  } else if (value.is_number_integer()) {
    number = value.get<int64_t>();
  } else if (value.is_number_float() && std::abs(value.get<double>()) < 0x1p53 && std::floor(value.get<double>()) == value.get<double>()) {
    number = static_cast<int64_t>(value.get<double>());
  } else {
    refuse_type(key, value, fmt::format("a whole number from {} to {}", least, most));
  }
  if (number < least || number > most) refuse_type(key, value, fmt::format("a whole number from {} to {}", least, most));
  return number;
}

std::optional<int64_t> ConfigReader::integer(std::string_view key, int64_t least, int64_t most) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  return to_integer(key, *value, least, most);
}

std::optional<double> ConfigReader::number(std::string_view key, double least, double most) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) refuse_type(key, *value, fmt::format("a number from {} to {}", least, most));
  const auto number = value->get<double>();
  if (!(number >= least && number <= most)) refuse_type(key, *value, fmt::format("a number from {} to {}", least, most));
  return number;
}

std::optional<bool> ConfigReader::boolean(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse_type(key, *value, "true or false");
  return value->get<bool>();
}

std::optional<std::string> ConfigReader::text(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse_type(key, *value, "a text");
  return value->get<std::string>();
}

std::optional<std::vector<int64_t>> ConfigReader::integers(std::string_view key, int64_t least, int64_t most) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) refuse_type(key, *value, "a list of whole numbers");
  std::vector<int64_t> list;
  list.reserve(value->size());
  for (const Json& item : *value) list.push_back(to_integer(key, item, least, most));
  return list;
}

std::optional<std::vector<int64_t>> ConfigReader::integer_or_list(std::string_view key, int64_t least, int64_t most) const {
  const Json* value = find(key);
  if (value == nullptr || value->is_array()) return integers(key, least, most);
  return std::vector<int64_t>{to_integer(key, *value, least, most)};
}

std::optional<std::vector<std::string>> ConfigReader::texts(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) refuse_type(key, *value, "a list of texts");
  std::vector<std::string> list;
  list.reserve(value->size());
  for (const Json& item : *value) {
    if (!item.is_string()) refuse_type(key, *value, "a list of texts");
    list.push_back(item.get<std::string>());
  }
  return list;
}

std::optional<ConfigReader> ConfigReader::child(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  return child_at(key, *value);
}

ConfigReader ConfigReader::child_at(std::string_view key, const Json& value) const {
  if (!value.is_object()) refuse_type(key, value, "an object");
  return ConfigReader(value, what_, inside_.empty() ? std::string(key) : inside_ + "." + std::string(key));
}

}  // namespace lagoon
