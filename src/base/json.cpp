#include "base/json.h"

#include "base/error.h"
#include "base/impostor.h"

#include <nlohmann/json.hpp>

#include <unordered_set>
#include <vector>

namespace lagoon {
namespace {

// bytes. nlohmann copies keys where objects move, in functions that must not fail: with a key as large as this there is always memory for that.
constexpr size_t longest_key = 1 << 16;

/// Builds the document and checks what nlohmann's own reader lets pass. A key goes straight to the end of its object: looking
/// it up there first, as that reader does, takes time quadratic in the number of keys.
class StrictReader {
 public:
  StrictReader(Json& document, std::string_view what) : document_(document), what_(what) {}

  // The interface of nlohmann::json_sax; true goes on.
  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(int64_t value) { return put(value); }
  bool number_unsigned(uint64_t value) { return put(value); }
  bool number_float(double value, const std::string& /*text*/) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t& value) { return put(std::move(value)); }
  bool start_object(size_t /*elements*/) {
    keys_.emplace_back();
    return open(Json::object());
  }
  bool start_array(size_t /*elements*/) { return open(Json::array()); }
  bool end_object() {
    keys_.pop_back();
    open_.pop_back();
    return true;
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool key(std::string& name) {
    if (name.size() > longest_key) {
      fail(ErrorKind::corrupt, "{}: a key has {} bytes, at most {} are read: `{}`", what_, name.size(), longest_key, printable(name, 40));
    }
    if (!keys_.back().insert(name).second) {
      fail(ErrorKind::corrupt, "{}: the key `{}` stands twice in one object; one of the two must go", what_, printable(name));
    }
    auto& members = open_.back()->get_ref<Json::object_t&>();
    members.emplace_back(std::move(name), nullptr);
    member_ = &members.back().second;
    return true;
  }
  bool parse_error(size_t position, const std::string& /*token*/, const nlohmann::detail::exception& reason) {
    fail(ErrorKind::corrupt, "{}: no valid JSON at byte {}: {}", what_, position, json_fault(reason.what()));
  }

 private:
  /// Puts a value where the document, the array or the key asks for one.
  Json& place(Json&& value) {
    if (open_.empty()) return document_ = std::move(value);
    if (open_.back()->is_object()) return *member_ = std::move(value);
    auto& items = open_.back()->get_ref<Json::array_t&>();
    return items.emplace_back(std::move(value));
  }
  bool put(Json&& value) {
    place(std::move(value));
    return true;
  }
  bool open(Json&& container) {
    if (open_.size() == json_depth_limit) {
      fail(ErrorKind::corrupt, "{}: JSON is nested deeper than {} levels; Lagoon reads no deeper", what_, json_depth_limit);
    }
    open_.push_back(&place(std::move(container)));
    return true;
  }

  Json& document_;
  std::string_view what_;
  std::vector<Json*> open_;                            // containers from the document down; only the last one grows, so that the others stay in place
  Json* member_ = nullptr;                             // the value of the last key
  std::vector<std::unordered_set<std::string>> keys_;  // of each open object
};

}  // namespace

std::string json_fault(std::string_view message) {
  constexpr std::string_view overflow = "number overflow parsing '";
  if (const size_t at = message.find(overflow); at != std::string_view::npos) {
    const std::string_view number = message.substr(at + overflow.size());
    return "the number `" + printable(number.substr(0, number.rfind('\'')), 40) + "` is too large";
  }
  const size_t column = message.find("column ");
  const size_t colon = column == std::string_view::npos ? column : message.find(": ", column);
  if (colon != std::string_view::npos) return printable(message.substr(colon + 2), 200);
  const size_t bracket = message.starts_with("[json.exception") ? message.find("] ") : std::string_view::npos;
  return printable(bracket == std::string_view::npos ? message : message.substr(bracket + 2), 200);
}

void refuse_nul(std::string_view text, std::string_view what) {
  refuse_other_encoding(text, what);
  const size_t nul = text.find('\0');
  if (nul != std::string_view::npos) fail(ErrorKind::corrupt, "{}: no valid JSON at byte {}: a NUL byte", what, nul + 1);
}

Json parse_json(std::string_view text, std::string_view what) {
  if (text.empty()) fail(ErrorKind::corrupt, "{}: the text is empty, JSON was expected; fetch it again, or write it", what);
  refuse_impostor(text, what, "JSON");
  refuse_nul(text, what);
  Json root;
  StrictReader reader(root, what);
  Json::sax_parse(text.begin(), text.end(), &reader);
  return root;
}

}  // namespace lagoon
