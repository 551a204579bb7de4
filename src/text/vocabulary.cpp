#include "text/vocabulary.h"

#include "base/byte_size.h"
#include "base/error.h"
#include "machine/file.h"
#include "text/tokenizer_config.h"

#include <nlohmann/json.hpp>

namespace lagoon {
namespace {

constexpr const char* advice_for_tokenizer = "it is damaged or belongs to another model, fetch it again";

void check_holes(const Tokenizer& tokenizer, const std::string& folder) {
  int32_t first = -1;
  int32_t holes = 0;
  for (int32_t id = tokenizer.vocabulary_size() - 1; id >= 0; --id) {
    if (tokenizer.has_token(id)) continue;
    first = id;
    ++holes;
  }
  if (holes == 0) return;
  fail(ErrorKind::corrupt, "{}: tokenizer.json has no token with the id {}; of its ids 0 to {}, {} {} missing; {}", folder, first,
       tokenizer.vocabulary_size() - 1, format_count(static_cast<uint64_t>(holes)), holes == 1 ? "is" : "are", advice_for_tokenizer);
}

void check_end_ids(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, const char* file, const std::string& folder) {
  for (const int32_t id : ids) {
    const bool known = tokenizer.has_token(id);
    if (known && tokenizer.is_added(id)) continue;
    fail(ErrorKind::corrupt, "{}: tokenizer.json has no added token with the id {}, which {} names as `eos_token_id`{}; {}", folder, id, file,
         known ? fmt::format(", but the ordinary token `{}`", printable(tokenizer.token_of(id), 60)) : "", advice_for_tokenizer);
  }
}

void check_special_tokens(const Tokenizer& tokenizer, const Checkpoint& checkpoint) {
  const std::string file = printable_path(checkpoint.folder() / tokenizer_config_file);
  for (const auto& [name, text] : special_tokens_of(load_tokenizer_config(checkpoint.folder()), file)) {
    if (name != "bos_token" && name != "eos_token") continue;
    const auto id = tokenizer.id_of(text);
    if (id && tokenizer.is_added(*id)) continue;
    fail(ErrorKind::corrupt, "{}: tokenizer.json has no added token `{}`, which {} names as `{}`; {}", printable_path(checkpoint.folder()),
         printable(text, 60), tokenizer_config_file, name, advice_for_tokenizer);
  }
}

}  // namespace

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
  check_holes(tokenizer, folder);
  check_end_ids(tokenizer, advice.eos_ids, "generation_config.json", folder);
  check_end_ids(tokenizer, checkpoint.config().eos_ids, "config.json", folder);
  check_special_tokens(tokenizer, checkpoint);
}

}  // namespace lagoon
