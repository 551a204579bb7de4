// token_input.h: token ids as a person gives them: in JSON files, or as a text that no chat template wraps.
#pragma once

#include "text/tokenizer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lagoon {

/// A list of ids, or a list of such lists; also what `tokenize --json` and `render --ids --json` print.
/// @param path  a file, or "-" for standard input. @throws Error(invalid) for anything else; Error(corrupt) for what is no JSON
std::vector<std::vector<int32_t>> read_token_lists(const std::string& path);

/// Raw text as the tokenizer's own post-processor begins it, unless the text begins so already. Control tokens in it match.
std::vector<int32_t> raw_prompt(const Tokenizer& tokenizer, const std::string& text);

}  // namespace lagoon
