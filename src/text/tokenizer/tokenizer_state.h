// tokenizer_state.h: everything that a Tokenizer shares between its copies and threads.
#pragma once

#include "text/tokenizer.h"
#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/bpe.h"
#include "text/tokenizer/tokenizer_json.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace lagoon {

struct Tokenizer::State {
  explicit State(TokenizerParts parts);

  bool has(int32_t id) const;
  /// @throws Error(invalid) naming the id if no token has it
  const TokenText& token(int32_t id) const;

  std::unique_ptr<Normalizer> normalizer;
  PreTokenizer pre_tokenizer;
  std::vector<int32_t> frame;
  std::string separator;
  std::vector<TokenText> tokens;  // by id
  std::unordered_map<std::string, int32_t> ids;
  std::vector<bool> added;              // by id
  AddedTokenMatcher raw_tokens;         // added tokens that are found in the text as it came
  AddedTokenMatcher normalized_tokens;  // added tokens that are found in the normalized text
  AddedTokenMatcher contents;           // all added tokens as they are spelled: what data must not forge
  BytePairEncoder encoder;
  std::vector<int32_t> newline;  // the ids of "\n"
};

}  // namespace lagoon
