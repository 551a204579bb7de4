#include "checkpoint/safetensors_json.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "base/json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

namespace lagoon {
namespace {

/// What both readers share: where they are, and sentences. nlohmann's parser calls the functions of nlohmann::json_sax.
class StreamReader {
 public:
  explicit StreamReader(std::string_view what) : what_(what) {}

  bool binary(Json::binary_t&) { return false; }  // no JSON text leads here
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& reason) {
    fail(ErrorKind::corrupt, "{}: no valid JSON at byte {}: {}; the file is damaged", what_, position, json_fault(reason.what()));
  }

 protected:
  [[noreturn]] void refuse(std::string_view fault) const { fail(ErrorKind::corrupt, "{}: {}; the file is damaged", what_, fault); }
  std::string_view what_;
};

[[noreturn]] void refuse_count(std::string_view what) {
  fail(ErrorKind::corrupt, "{}: more than {} tensors are named, no Laguna has as many; the file is damaged or another model's", what,
       format_count(tensor_limit));
}

/// A header of a million tensors is refused without reading it: that would take seconds.
void check_count(std::string_view text, std::string_view what) {
  constexpr std::string_view word = "\"data_offsets\"";
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) {
    if (++count > tensor_limit) refuse_count(what);
  }
}

constexpr size_t longest_text = size_t{16} << 20;    // bytes; those of `__metadata__` may be long
constexpr size_t longest_number = size_t{64} << 10;  // bytes, or another run without text and punctuation

/// Refuses, without reading them, texts and numbers of which nlohmann would make several copies before it asks.
class TokenLengths {
 public:
  static void check(std::string_view text, std::string_view what) {
    size_t at = 0;
    while (at < text.size()) {
      const size_t begin = std::min(text.find('"', at), text.size());
      check_outside(text.substr(at, begin - at), what);
      if (begin == text.size()) return;
      const size_t end = end_of_text(text, begin + 1);
      if (end - begin > longest_text) refuse(what, "a text", end - begin, longest_text);
      at = end + 1;
    }
  }

 private:
  [[noreturn]] static void refuse(std::string_view what, std::string_view token, size_t length, size_t limit) {
    fail(ErrorKind::corrupt, "{}: {} in the JSON has {}, at most {} are read; the file is damaged", what, token, format_bytes(length),
         format_count(limit));
  }

  /// Where the quotation mark is that no backslash escapes.
  static size_t end_of_text(std::string_view text, size_t begin) {
    for (size_t at = text.find('"', begin); at != std::string_view::npos; at = text.find('"', at + 1)) {
      size_t backslashes = 0;
      while (at - backslashes > begin && text[at - backslashes - 1] == '\\') ++backslashes;
      if (backslashes % 2 == 0) return at;
    }
    return text.size();
  }

  static void check_outside(std::string_view run, std::string_view what) {
    if (run.size() <= longest_number) return;
    for (size_t begin = 0; begin < run.size();) {
      const size_t end = std::min(run.find_first_of(" \t\r\n,:[]{}", begin), run.size());
      if (end - begin > longest_number) refuse(what, "a number", end - begin, longest_number);
      begin = end + 1;
    }
  }
};

class HeaderReader : public StreamReader {
 public:
  HeaderReader(std::string_view what, std::map<std::string, std::string>& metadata, const std::function<void(HeaderEntry&)>& take)
      : StreamReader(what), metadata_(metadata), take_(take) {}

  bool null() { misplaced("null"); }
  bool boolean(bool) { misplaced("a truth value"); }
  bool number_float(double, const std::string& text) { misplaced("the number " + printable(text, 40)); }
  bool number_integer(int64_t value) { misplaced("the number " + std::to_string(value)); }
  bool number_unsigned(uint64_t value) {
    if (at_ == At::shape) {
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) misplaced("the number " + std::to_string(value));
      if (entry_.shape.size() == dimension_limit) refuse("tensor `" + printable(entry_.name) + "` has more than 8 dimensions");
      entry_.shape.push_back(static_cast<int64_t>(value));
    } else if (at_ == At::offsets && offsets_ < 2) {
      (offsets_++ == 0 ? entry_.begin : entry_.end) = value;
    } else {
      misplaced("the number " + std::to_string(value));
    }
    return true;
  }
  bool string(std::string& text) {
    if (at_ == At::metadata) {
      metadata_bytes_ += key_.size() + text.size();
      if (metadata_.size() == metadata_limit || metadata_bytes_ > metadata_bytes_limit) {
        refuse("`__metadata__` has more than " + format_count(metadata_limit) + " entries or " + format_count(metadata_bytes_limit) + " bytes");
      }
      if (!metadata_.emplace(key_, text).second) refuse("the key `" + printable(key_) + "` stands twice in `__metadata__`");
    } else if (at_ == At::tensor && field_ == type_field) {
      entry_.type = std::move(text);
      seen_ |= field_;
    } else {
      misplaced("a text");
    }
    return true;
  }
  bool start_object(size_t) {
    if (at_ == At::start) {
      at_ = At::root;
    } else if (at_ == At::root && key_ == "__metadata__") {
      if (std::exchange(has_metadata_, true)) refuse("the key `__metadata__` stands twice");
      at_ = At::metadata;
    } else if (at_ == At::root) {
      at_ = At::tensor;
      seen_ = 0;
      offsets_ = 0;
      entry_.name = key_;
      entry_.shape.clear();
    } else {
      misplaced("an object");
    }
    return true;
  }
  bool key(std::string& name) {
    if (at_ != At::tensor) {
      key_ = std::move(name);
      return true;
    }
    field_ = name == "dtype" ? type_field : name == "shape" ? shape_field : name == "data_offsets" ? offsets_field : 0U;
    if (field_ == 0) refuse("tensor `" + printable(entry_.name) + "` has the unknown key `" + printable(name) + "`");
    if ((seen_ & field_) != 0) refuse("tensor `" + printable(entry_.name) + "` has the key `" + name + "` twice");
    return true;
  }
  bool end_object() {
    if (at_ == At::tensor) {
      if (seen_ != (type_field | shape_field | offsets_field)) refuse("tensor `" + printable(entry_.name) + "` lacks dtype, shape or data_offsets");
      if (++taken_ > tensor_limit) refuse_count(what_);
      take_(entry_);
    }
    at_ = at_ == At::root ? At::done : At::root;
    return true;
  }
  bool start_array(size_t) {
    if (at_ != At::tensor || (field_ & (shape_field | offsets_field)) == 0) misplaced("a list");
    at_ = field_ == shape_field ? At::shape : At::offsets;
    seen_ |= field_;
    return true;
  }
  bool end_array() {
    if (at_ == At::offsets && offsets_ != 2) refuse("tensor `" + printable(entry_.name) + "`: data_offsets must be two numbers");
    at_ = At::tensor;
    return true;
  }

 private:
  enum class At { start, root, metadata, tensor, shape, offsets, done };
  static constexpr unsigned type_field = 1, shape_field = 2, offsets_field = 4;
  static constexpr size_t dimension_limit = 8;
  static constexpr size_t metadata_limit = 10'000;                  // entries
  static constexpr size_t metadata_bytes_limit = size_t{16} << 20;  // keys and texts together

  std::string expected() const {
    switch (at_) {
      case At::metadata:
        return "a text was expected";
      case At::shape:
        return "`shape` was to be a list of whole numbers";
      case At::offsets:
        return "`data_offsets` was to be a list of two whole numbers";
      case At::tensor:
        return field_ == type_field    ? "`dtype` was to be a text"
               : field_ == shape_field ? "`shape` was to be a list of whole numbers"
                                       : "`data_offsets` was to be a list of two whole numbers";
      default:
        return "an object was expected";
    }
  }

  [[noreturn]] void misplaced(const std::string& found) const {
    const bool inside = at_ == At::tensor || at_ == At::shape || at_ == At::offsets;
    refuse("the header holds " + found + " where " + expected() +
           (inside             ? ", at tensor `" + printable(entry_.name) + "`"
            : at_ == At::start ? ""
                               : ", at key `" + printable(key_) + "`"));
  }

  std::map<std::string, std::string>& metadata_;
  const std::function<void(HeaderEntry&)>& take_;
  At at_ = At::start;
  std::string key_;
  unsigned field_ = 0;
  unsigned seen_ = 0;
  int offsets_ = 0;
  size_t taken_ = 0;
  bool has_metadata_ = false;
  size_t metadata_bytes_ = 0;
  HeaderEntry entry_;
};

class WeightMapReader : public StreamReader {
 public:
  using StreamReader::StreamReader;

  bool null() { return scalar(); }
  bool boolean(bool) { return scalar(); }
  bool number_float(double, const std::string&) { return scalar(); }
  bool number_integer(int64_t) { return scalar(); }
  bool number_unsigned(uint64_t) { return scalar(); }
  bool string(std::string& text) {
    if (!in_map_) return scalar();
    if (map.size() == tensor_limit) refuse_count(what_);
    if (map.empty() || map.back().second != text) {  // most tensors are in the file of the one before
      files_.insert(text);
      if (files_.size() > file_limit) refuse("`weight_map` names more than " + format_count(file_limit) + " files");
    }
    map.emplace_back(std::move(key_), std::move(text));
    return true;
  }
  bool key(std::string& name) {
    key_ = std::move(name);
    return true;
  }
  bool start_object(size_t) {
    deepen();
    if (depth_ == 2 && key_ == "weight_map") {
      if (found) refuse("the key `weight_map` stands twice");
      in_map_ = found = true;
    }
    return true;
  }
  bool end_object() {
    if (depth_-- == 2) in_map_ = false;
    return true;
  }
  bool start_array(size_t) {
    if (depth_ == 0) refuse("an object was expected");
    deepen();
    return true;
  }
  bool end_array() {
    --depth_;
    return true;
  }

  std::vector<std::pair<std::string, std::string>> map;
  bool found = false;

 private:
  bool scalar() const {
    if (depth_ == 0) refuse("an object was expected");
    if (in_map_) refuse("`weight_map` must map each tensor to a file, `" + printable(key_) + "` has something else");
    return true;
  }
  void deepen() {
    if (in_map_) refuse("`weight_map` must map each tensor to a file, `" + printable(key_) + "` has something else");
    if (++depth_ > json_depth_limit) refuse("JSON is nested too deeply");
  }

  static constexpr size_t file_limit = 10'000;
  std::unordered_set<std::string> files_;
  size_t depth_ = 0;
  bool in_map_ = false;
  std::string key_;
};

}  // namespace

void read_header_json(std::string_view text, std::string_view what, std::map<std::string, std::string>& metadata,
                      const std::function<void(HeaderEntry&)>& take) {
  refuse_nul(text, what);
  check_count(text, what);
  TokenLengths::check(text, what);
  HeaderReader reader(what, metadata, take);
  Json::sax_parse(text.data(), text.data() + text.size(), &reader);
}

std::vector<std::pair<std::string, std::string>> read_weight_map(std::string_view text, std::string_view what) {
  if (text.empty()) fail(ErrorKind::corrupt, "{}: the file is empty, an index in JSON was expected; fetch it again", what);
  refuse_nul(text, what);
  TokenLengths::check(text, what);
  WeightMapReader reader(what);
  Json::sax_parse(text.data(), text.data() + text.size(), &reader);
  if (!reader.found) fail(ErrorKind::corrupt, "{}: the key `weight_map` is missing; fetch the file again", what);
  std::unordered_set<std::string_view> names;
  names.reserve(reader.map.size());
  for (const auto& [name, file] : reader.map) {
    if (!names.insert(name).second)
      fail(ErrorKind::corrupt, "{}: tensor `{}` stands twice in `weight_map`; the file is damaged", what, printable(name));
  }
  return std::move(reader.map);
}

}  // namespace lagoon
