// json.h: JSON from outside, read strictly: RFC 8259, valid UTF-8, no duplicate keys, bounded depth. Key order is kept.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace lagoon {

using Json = nlohmann::ordered_json;

constexpr size_t json_depth_limit = 512;

/// What nlohmann's reader says is wrong, without what is its own: `message` is the text of its exception.
std::string json_fault(std::string_view message);

/// nlohmann's readers take a NUL byte as the end of the text; JSON has none, so that one is a fault wherever it stands. Text in
/// UTF-16 or UTF-32 is called so.
/// @throws Error(corrupt)
void refuse_nul(std::string_view text, std::string_view what);

/// @param what  the file or flag, which begins the sentence of an error
/// @throws Error(corrupt) naming the byte of the first fault, a duplicate key, or a nesting deeper than the limit
Json parse_json(std::string_view text, std::string_view what);

}  // namespace lagoon
