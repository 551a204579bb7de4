// components_json.h: the normalizer, pre_tokenizer, post_processor and decoder of a tokenizer.json.
#pragma once

#include "base/json.h"
#include "text/tokenizer/tokenizer_json.h"

#include <memory>
#include <string>

namespace lagoon {

// @param where  the file and the key, which begins the sentence of an error
// @throws Error(unsupported) for a component that Lagoon does not have, Error(corrupt) for keys that are missing or mistyped
std::unique_ptr<Normalizer> read_normalizer(const Json& json, const std::string& where);
PreTokenizer read_pre_tokenizer(const Json& json, const std::string& where);

/// The frame of TokenizerParts.
std::vector<int32_t> read_post_processor(const Json& json, const std::string& where);

struct DecoderKind {
  bool byte_level;        // tokens are bytes in disguise
  std::string separator;  // between tokens
};
DecoderKind read_decoder(const Json& json, const std::string& where);

}  // namespace lagoon
