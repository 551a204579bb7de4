#include "engine/token_ids.h"

#include "base/byte_size.h"
#include "base/error.h"

namespace lagoon {

void check_token_ids(std::span<const int32_t> ids, int64_t vocabulary) {
  for (size_t at = 0; at < ids.size(); ++at) {
    if (ids[at] >= 0 && ids[at] < vocabulary) continue;
    fail(ErrorKind::invalid, "token id {}, number {} of the list: the vocabulary has ids 0 to {}; the ids come from another tokenizer", ids[at],
         format_count(at + 1), vocabulary - 1);
  }
}

}  // namespace lagoon
