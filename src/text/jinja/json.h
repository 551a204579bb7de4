// json.h: JSON to values and back, as Python's json does it: integers without limit, keys in their order, floats by repr.
#pragma once

#include "text/jinja/limits.h"
#include "text/jinja/value.h"

#include <string>
#include <string_view>

namespace lagoon::jinja {

/// Reads JSON strictly (RFC 8259, valid UTF-8, no duplicate keys, json_depth_limit levels). All strings are from_data.
/// @param what    the file, flag or field, which begins the sentence of an error
/// @param advice  ends the sentence where the text is no JSON, such as "; send one JSON object"
/// @throws Error(invalid) naming the byte of the first fault, or of the first NUL, which JSON has nowhere
Value read_json(std::string_view text, std::string_view what, std::string_view advice = {});

struct JsonStyle {
  bool ensure_ascii = false;  // everything above U+007F as \uXXXX
  bool sort_keys = false;
  bool indented = false;
  std::string indent;  // of one level
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};

/// json.dumps(value). @throws Raised (TypeError for what JSON cannot hold, LimitError)
std::string write_json(const Value& value, const JsonStyle& style, Budget& budget);

}  // namespace lagoon::jinja
