#include "engine/token_ids.h"

#include "base/error.h"

namespace lagoon {

void check_token_ids(std::span<const int32_t> ids, int64_t vocabulary) {
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocabulary)
      fail(ErrorKind::invalid, "token id {}: the vocabulary has ids 0 to {}; the ids come from another tokenizer", id, vocabulary - 1);
  }
}

}  // namespace lagoon
