// safetensors_json.h: the two JSON documents of a checkpoint that may name a million tensors, read as a stream: the header of
// a safetensors file and model.safetensors.index.json. (A document tree would look each key up among all others.)
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// More tensors than this are refused in one file: some five times what the largest Laguna has, and read in well under a second.
constexpr size_t tensor_limit = 500'000;

/// One entry of a header, as written: nothing is checked but the JSON types and that each key stands there once.
struct HeaderEntry {
  std::string name;
  std::string type;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// Calls `take` for each tensor in turn; it may move from the entry.
/// @throws Error(corrupt) naming `what` (the file) and the byte or tensor at fault, and whatever `take` throws
void read_header_json(std::string_view text, std::string_view what, std::map<std::string, std::string>& metadata,
                      const std::function<void(HeaderEntry&)>& take);

/// The "weight_map" of an index: tensor, file. Other keys are passed over.
/// @throws Error(corrupt) naming `what` if there is none, if a value is no text, or if a tensor stands there twice
std::vector<std::pair<std::string, std::string>> read_weight_map(std::string_view text, std::string_view what);

}  // namespace lagoon
