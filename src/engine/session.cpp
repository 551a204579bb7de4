#include "engine/session.h"

#include "base/error.h"

#include <algorithm>

namespace lagoon {

Session::Session(Model& model) : model_(model), sequence_(model.create_sequence()), logits_(static_cast<size_t>(model.config().vocabulary)) {}

Session::~Session() { model_.drop(sequence_); }

void Session::restart() {
  model_.drop(sequence_);
  sequence_ = model_.create_sequence();
  tokens_.clear();
}

Session::Synced Session::sync(std::span<const int32_t> prefix, const TokenProgress& progress) {
  if (prefix.empty()) fail(ErrorKind::invalid, "the prompt has no tokens; a model needs at least one to go on from");
  const auto differs = std::mismatch(tokens_.begin(), tokens_.end(), prefix.begin(), prefix.end());
  const int64_t common = differs.first - tokens_.begin();
  // The last token is computed in any case: its logits are wanted.
  const int64_t reused = std::min(common, static_cast<int64_t>(prefix.size()) - 1);
  if (model_.rewind(sequence_, reused)) {
    tokens_.resize(static_cast<size_t>(reused));
  } else {
    restart();
  }
  Synced synced{.reused = static_cast<int64_t>(tokens_.size())};
  const int64_t total = static_cast<int64_t>(prefix.size()) - synced.reused;
  while (synced.processed < total) {
    if (progress) progress(synced.processed, total);
    const int64_t count = std::min(total - synced.processed, model_.step_rows());
    process(prefix.subspan(static_cast<size_t>(synced.reused + synced.processed), static_cast<size_t>(count)), synced.processed + count == total,
            within_step(progress, synced.processed, count, total));
    synced.processed += count;
  }
  return synced;
}

void Session::append(int32_t token) { process(std::span(&token, 1), true, {}); }

void Session::process(std::span<const int32_t> tokens, bool wants_logits, const LayerProgress& progress) {
  const TokenSpan span{.sequence = sequence_, .tokens = tokens, .logit_rows = wants_logits ? 1 : 0};
  model_.forward(std::span(&span, 1), MatrixView<float>(logits_.data(), wants_logits ? 1 : 0, static_cast<int64_t>(logits_.size())), progress);
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

}  // namespace lagoon
