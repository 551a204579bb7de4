#include "base/utf8.h"
#include "text/tokenizer.h"
#include "text/tokenizer/tokenizer_state.h"

#include <utility>

namespace lagoon {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

}  // namespace

StreamingDecoder::StreamingDecoder(const Tokenizer& tokenizer, bool skip_special_tokens)
    : state_(tokenizer.state_), skip_special_tokens_(skip_special_tokens) {}

std::string StreamingDecoder::push(int32_t id) {
  const TokenText& token = state_->token(id);
  if (skip_special_tokens_ && token.skipped) return "";
  if (begun_) pending_.append(state_->separator);
  begun_ = true;
  pending_.append(token.bytes);
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const size_t valid = valid_utf8_length(rest);
    bool could_continue = false;
    const size_t length = valid > 0 ? valid : invalid_utf8_length(rest, &could_continue);
    if (could_continue) break;
    held_.append(valid > 0 ? rest.substr(0, valid) : replacement);
    rest.remove_prefix(length);
  }
  pending_.erase(0, pending_.size() - rest.size());
  if (!pending_.empty() || held_.ends_with(replacement)) return "";
  return std::exchange(held_, {});
}

std::string StreamingDecoder::flush() {
  held_.append(replace_invalid_utf8(pending_));
  pending_.clear();
  begun_ = false;
  return std::exchange(held_, {});
}

}  // namespace lagoon
