// vocabulary.h: whether the ids that the files of a checkpoint name are in the vocabulary of its weights.
#pragma once

#include "checkpoint/checkpoint.h"
#include "checkpoint/generation_config.h"
#include "text/tokenizer.h"

namespace lagoon {

/// Before anything is generated: no id that tokenizer.json or generation_config.json names lies beyond the rows of the embedding,
/// each id up to the tokenizer's highest has a token, and the ids that end an answer and the `bos_token` and `eos_token` of
/// tokenizer_config.json are added tokens: else an answer would not end, or a text would spell them.
/// @throws Error(io) where tokenizer_config.json cannot be read; Error(corrupt) naming the folder, the file, what it names and what there is
void check_vocabulary(const Tokenizer& tokenizer, const GenerationConfig& advice, const Checkpoint& checkpoint);

}  // namespace lagoon
