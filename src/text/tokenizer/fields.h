// fields.h: the keys of one JSON object, each read once with its type checked, and complaint about those that nobody read.
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/config_reader.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <string_view>

namespace lagoon {

/// What a value is, in a few words: what it holds is too long where it is a list or an object.
inline std::string found_in(const Json& value) {
  if (value.is_object()) return "an object";
  return value.is_array() ? "a list" : shown(value);
}

class Fields {
 public:
  /// @param where  the file and the key of this object, which begins the sentence of an error
  Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) fail(ErrorKind::corrupt, "{} is {}, an object was needed", where_, found_in(object_));
  }

  const std::string& where() const { return where_; }
  std::string where(std::string_view key) const { return where_ + "." + printable(key); }

  /// Null if the key is absent.
  const Json& find(const std::string& key) {
    static const Json nothing;
    read_.insert(key);
    const auto found = object_.find(key);
    return found == object_.end() ? nothing : *found;
  }

  const Json& need(const std::string& key, std::string_view what = "an object") {
    const Json& value = find(key);
    if (!object_.contains(key)) fail(ErrorKind::corrupt, "{} lacks the key `{}`, {} was needed", where_, printable(key), what);
    return value;
  }

  [[noreturn]] void refuse(std::string_view key, const Json& value, std::string_view needed) const {
    fail(ErrorKind::corrupt, "{}: `{}` is {}, {} was needed", where_, key, found_in(value), needed);
  }

  bool need_bool(const std::string& key) {
    const Json& value = need(key, "true or false");
    if (!value.is_boolean()) refuse(key, value, "true or false");
    return value.get<bool>();
  }

  bool find_bool(const std::string& key, bool otherwise) { return find(key).is_null() ? otherwise : need_bool(key); }

  const std::string& need_string(const std::string& key) {
    const Json& value = need(key, "a text");
    if (!value.is_string()) refuse(key, value, "a text");
    return value.get_ref<const std::string&>();
  }

  const Json& need_list(const std::string& key) {
    const Json& value = need(key, "a list");
    if (!value.is_array()) refuse(key, value, "a list");
    return value;
  }

  /// @throws Error(unsupported) for a key that was not asked for, unless its value says no
  void finish() const {
    for (const auto& [key, value] : object_.items()) {
      if (read_.contains(key) || value.is_null() || value == false) continue;
      fail(ErrorKind::unsupported, "{}: the key `{}` is not one that Lagoon knows", where_, printable(key));
    }
  }

 private:
  const Json& object_;
  std::string where_;
  std::set<std::string> read_;
};

}  // namespace lagoon
