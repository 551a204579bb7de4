#include "base/json.h"

#include "base/error.h"

#include <nlohmann/json.hpp>

#include <unordered_set>
#include <vector>

namespace lagoon {
namespace {

/// Builds the document like nlohmann's own reader and checks what that one lets pass.
class StrictReader : public nlohmann::detail::json_sax_dom_parser<Json> {
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;

 public:
  StrictReader(Json& document, std::string_view what) : Base(document, true), what_(what) {}

  bool start_object(size_t elements) {
    deepen();
    keys_.emplace_back();
    return Base::start_object(elements);
  }
  bool end_object() {
    --depth_;
    keys_.pop_back();
    return Base::end_object();
  }
  bool start_array(size_t elements) {
    deepen();
    return Base::start_array(elements);
  }
  bool end_array() {
    --depth_;
    return Base::end_array();
  }
  bool key(std::string& name) {
    if (!keys_.back().insert(name).second) {
      fail(ErrorKind::corrupt, "{}: the key `{}` stands twice in one object; one of the two must go", what_, printable(name));
    }
    return Base::key(name);
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& reason) {
    const std::string text = reason.what();
    const size_t cut = text.find("column ");
    const size_t colon = cut == std::string::npos ? std::string::npos : text.find(": ", cut);
    fail(ErrorKind::corrupt, "{}: no valid JSON at byte {}: {}", what_, position,
         printable(colon == std::string::npos ? text : text.substr(colon + 2), 200));
  }

 private:
  void deepen() {
    if (++depth_ > json_depth_limit)
      fail(ErrorKind::corrupt, "{}: JSON is nested deeper than {} levels; Lagoon reads no deeper", what_, json_depth_limit);
  }

  std::string_view what_;
  size_t depth_ = 0;
  std::vector<std::unordered_set<std::string>> keys_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view what) {
  if (text.empty()) fail(ErrorKind::corrupt, "{}: the text is empty, JSON was expected", what);
  Json root;
  StrictReader reader(root, what);
  Json::sax_parse(text.begin(), text.end(), &reader);
  return root;
}

}  // namespace lagoon
