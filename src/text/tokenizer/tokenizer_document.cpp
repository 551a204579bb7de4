// tokenizer_document.cpp: the JSON of a tokenizer.json. A vocabulary of 100,000 entries goes past the document tree, whose
// objects keep their keys in a list.
#include "base/error.h"
#include "base/impostor.h"
#include "text/tokenizer/tokenizer_json.h"

#include <unordered_set>

namespace lagoon {
namespace {

class DocumentReader : public nlohmann::detail::json_sax_dom_parser<Json> {
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;

 public:
  DocumentReader(TokenizerDocument& document, std::string_view name) : Base(document.rest, true), document_(document), name_(name) {}

  bool null() { return in_list() ? unexpected("null") : Base::null(); }
  bool boolean(bool value) { return in_list() ? unexpected(value ? "true" : "false") : Base::boolean(value); }
  bool number_integer(int64_t value) { return in_list() ? number(value, value) : Base::number_integer(value); }
  bool number_unsigned(uint64_t value) {
    if (!in_list()) return Base::number_unsigned(value);
    return number(value > static_cast<uint64_t>(highest_token_id) ? -1 : static_cast<int64_t>(value), value);
  }
  bool number_float(double value, const std::string& text) { return in_list() ? unexpected(printable(text, 40)) : Base::number_float(value, text); }

  bool string(std::string& value) {
    if (!in_list()) return Base::string(value);
    if (list_ != List::merges || list_depth_ == 0) return unexpected(quoted(value));
    if (list_depth_ == 1) return merge_of_string(value);
    parts_.push_back(value);
    return parts_.size() <= 2 || unexpected("more than two texts");
  }

  bool start_object(size_t elements) {
    deepen();
    if (list_ == List::vocabulary && list_depth_ == 0) {
      document_.has_vocabulary = true;
      ++list_depth_;
      return true;
    }
    if (in_list()) return unexpected("an object");
    keys_.emplace_back();
    path_.emplace_back();
    return Base::start_object(elements);
  }

  bool end_object() {
    --depth_;
    if (in_list()) return end_list();
    keys_.pop_back();
    path_.pop_back();
    return Base::end_object();
  }

  bool start_array(size_t elements) {
    deepen();
    if (list_ == List::merges && list_depth_ < 2) {
      document_.has_merges = true;
      ++list_depth_;
      parts_.clear();
      return true;
    }
    if (in_list()) return unexpected("a list");
    path_.emplace_back();
    return Base::start_array(elements);
  }

  bool end_array() {
    --depth_;
    if (!in_list()) {
      path_.pop_back();
      return Base::end_array();
    }
    if (list_depth_ == 1) return end_list();
    --list_depth_;
    if (parts_.size() != 2) return unexpected(parts_.empty() ? "an empty list" : "a list of one text");
    return merge(std::move(parts_[0]), std::move(parts_[1]));
  }

  bool key(std::string& key) {
    if (list_ == List::vocabulary) {
      check_count("vocab", document_.vocabulary.size());
      check_token(key);
      if (!tokens_.insert(key).second) {
        fail(ErrorKind::corrupt, "{}: `model.vocab` holds the token `{}` twice; one of the two must go", name_, printable(key));
      }
      document_.vocabulary.emplace_back(std::move(key), -1);
      return true;
    }
    if (!keys_.back().insert(key).second) {
      fail(ErrorKind::corrupt, "{}: the key `{}` stands twice in one object; one of the two must go", name_, printable(key));
    }
    path_.back() = key;
    if (path_.size() == 2 && path_[0] == "model" && (key == "vocab" || key == "merges")) {
      list_ = key == "vocab" ? List::vocabulary : List::merges;
      list_depth_ = 0;
    }
    return Base::key(key);
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& reason) {
    fail(ErrorKind::corrupt, "{}: no valid JSON at byte {}: {}", name_, position, json_fault(reason.what()));
  }

 private:
  enum class List : unsigned char { none, vocabulary, merges };

  bool in_list() const { return list_ != List::none; }

  void deepen() {
    if (++depth_ > json_depth_limit)
      fail(ErrorKind::corrupt, "{}: JSON is nested deeper than {} levels; Lagoon reads no deeper", name_, json_depth_limit);
  }

  /// Published vocabularies have some 100,000 tokens and merges.
  void check_count(const char* list, size_t count) const {
    constexpr size_t most = 1'000'000;
    if (count >= most) fail(ErrorKind::unsupported, "{}: `model.{}` has more than {} entries, Lagoon takes no more", name_, list, most);
  }

  void check_token(const std::string& token) const {
    constexpr size_t longest_token = size_t{1} << 16;  // bytes
    if (token.size() <= longest_token) return;
    fail(ErrorKind::unsupported, "{}: `model.vocab` holds a token of {} bytes, at most {} are taken: `{}`", name_, token.size(), longest_token,
         printable(token, 40));
  }

  static std::string quoted(const std::string& text) { return "`" + printable(text, 40) + "`"; }

  /// @param found  what the value is that cannot stand here
  [[noreturn]] bool unexpected(std::string_view found) const {
    if (list_depth_ == 0) {
      fail(ErrorKind::corrupt, "{}: `model.{}` is {}, {} was needed", name_, list_ == List::vocabulary ? "vocab" : "merges", found,
           list_ == List::vocabulary ? "an object of tokens and their ids" : "a list of pairs of tokens");
    }
    if (list_ == List::vocabulary) {
      fail(ErrorKind::corrupt, "{}: `model.vocab` gives the token {} the id {}, a whole number from 0 to {} was needed", name_,
           quoted(document_.vocabulary.back().first), found, highest_token_id);
    }
    fail(ErrorKind::corrupt, "{}: entry {} of `model.merges` {} {}, \"left right\" or [\"left\", \"right\"] was needed", name_,
         document_.merges.size(), list_depth_ == 2 ? "holds" : "is", found);
  }

  template <typename Number>
  bool number(int64_t id, Number written) {
    if (list_ != List::vocabulary || list_depth_ != 1 || id < 0) return unexpected(std::to_string(written));
    document_.vocabulary.back().second = id;
    return true;
  }

  bool merge_of_string(const std::string& text) {
    if (text.starts_with("#version")) return true;
    const size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) return unexpected(quoted(text));
    return merge(text.substr(0, space), text.substr(space + 1));
  }

  bool merge(std::string left, std::string right) {
    check_count("merges", document_.merges.size());
    document_.merges.emplace_back(std::move(left), std::move(right));
    return true;
  }

  bool end_list() {
    list_ = List::none;
    return Base::null();
  }

  TokenizerDocument& document_;
  std::string_view name_;
  size_t depth_ = 0;
  List list_ = List::none;
  int list_depth_ = 0;              // objects and arrays open inside of the list
  std::vector<std::string> path_;   // the key being read at each level; empty in arrays
  std::vector<std::string> parts_;  // of a merge
  std::unordered_set<std::string> tokens_;
  std::vector<std::unordered_set<std::string>> keys_;
};

}  // namespace

TokenizerDocument read_tokenizer_document(std::string_view json, std::string_view name) {
  if (json.empty()) fail(ErrorKind::corrupt, "{}: the file is empty, a tokenizer was expected; fetch it again", name);
  refuse_impostor(json, name, "a tokenizer");
  refuse_nul(json, name);
  TokenizerDocument document;
  DocumentReader reader(document, name);
  Json::sax_parse(json.begin(), json.end(), &reader);
  if (!document.rest.is_object()) fail(ErrorKind::corrupt, "{}: the document must be a JSON object", name);
  return document;
}

}  // namespace lagoon
