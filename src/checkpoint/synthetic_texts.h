// synthetic_texts.h: the small files of a synthetic checkpoint. The tokenizer is a stand-in: each byte is a token, and the ids that
// the published vocabulary fills with words have made-up ones, which text never becomes and which decode all the same.
#pragma once

#include "base/json.h"

#include <string>

namespace lagoon {

/// tokenizer.json with exactly `vocabulary` tokens: 70 added ones, of which those that chats need have their published ids, 256 bytes, and
/// fillers. @pre vocabulary >= 326
std::string synthetic_tokenizer(int vocabulary);

Json synthetic_tokenizer_config();
std::string synthetic_chat_template();
Json synthetic_generation_config();

}  // namespace lagoon
