#include "text/vocabulary.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "machine/file.h"

namespace lagoon {

void check_vocabulary(const Tokenizer& tokenizer, const GenerationConfig& advice, const Checkpoint& checkpoint) {
  const std::string folder = printable_path(checkpoint.folder());
  const int32_t vocabulary = checkpoint.config().vocabulary;
  if (tokenizer.vocabulary_size() > vocabulary) {
    const int32_t last = tokenizer.vocabulary_size() - 1;
    fail(ErrorKind::corrupt, "{}: tokenizer.json has {} ids, the last is {} (`{}`), vocab_size is {}; the tokenizer belongs to another model", folder,
         format_count(static_cast<uint64_t>(last) + 1), last, printable(tokenizer.token_of(last)), format_count(static_cast<uint64_t>(vocabulary)));
  }
  for (const int32_t id : advice.eos_ids) {
    if (id < vocabulary) continue;
    fail(ErrorKind::corrupt,
         "{}: generation_config.json: `eos_token_id` is {}, vocab_size is {}: ids go from 0 to {}; the two belong to other models", folder, id,
         format_count(static_cast<uint64_t>(vocabulary)), vocabulary - 1);
  }
}

}  // namespace lagoon
