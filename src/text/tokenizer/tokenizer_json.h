// tokenizer_json.h: reads a tokenizer.json of Hugging Face tokenizers into the parts of a Tokenizer.
// What Lagoon does not do is refused by name; what contradicts itself is named by its key. Keys that other versions of the
// format may add beside those that are read do not change what a tokenizer does and are passed over.
// Source: huggingface/tokenizers, tokenizers/src/tokenizer/serialization.rs and the serialization of each component.
#pragma once

#include "base/json.h"
#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/bpe.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/pre_tokenizer.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

/// How one token reads, as the file spells it and decoded.
struct TokenText {
  std::string content;  // empty: no token has this id
  std::string bytes;    // what the token adds to decoded text
  bool special = false;
  bool skipped = false;  // by skip_special_tokens
};

constexpr int32_t frame_text = -1;  // in a frame: here stands the text

struct TokenizerParts {
  std::unique_ptr<Normalizer> normalizer;  // null: none
  PreTokenizer pre_tokenizer;
  BpeModel model;
  std::vector<AddedToken> added_tokens;       // special ones first, then in the order of the file
  std::vector<TokenText> tokens;              // by id
  std::vector<int32_t> frame = {frame_text};  // what the post-processor makes of a text
  std::string separator;                      // between decoded tokens
};

/// What the file holds, the two long lists apart from the rest.
struct TokenizerDocument {
  Json rest;                                                // `model.vocab` and `model.merges` are null in it
  std::vector<std::pair<std::string, int64_t>> vocabulary;  // in the order of the file
  std::vector<std::pair<std::string, std::string>> merges;
  bool has_vocabulary = false;
  bool has_merges = false;
};

TokenizerDocument read_tokenizer_document(std::string_view json, std::string_view name);

constexpr int32_t highest_token_id = 16 * 1024 * 1024 - 1;

/// @param name  the file, which begins the sentence of an error
/// @throws Error(corrupt), Error(unsupported)
TokenizerParts read_tokenizer_json(std::string_view json, std::string_view name);

}  // namespace lagoon
