// session.h: one timeline of tokens. Callers say what the whole prefix is; the session reuses what the model already has of
// it, extends it, or builds it again, and says which. Used by one thread at a time.
#pragma once

#include "engine/token_progress.h"
#include "laguna/model.h"

#include <cstdint>
#include <span>
#include <vector>

namespace lagoon {

class Session {
 public:
  struct Synced {
    int64_t reused = 0;     // tokens whose keys and values were there
    int64_t processed = 0;  // tokens computed now
  };

  /// @param model  must outlive the session
  explicit Session(Model& model);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Makes the timeline equal to `prefix` and computes the logits of its last token.
  /// @param prefix    at least one token
  /// @param progress  what it throws leaves the session usable. @throws as Model::forward
  Synced sync(std::span<const int32_t> prefix, const TokenProgress& progress = {});

  /// Appends one token and computes its logits.
  void append(int32_t token);

  /// Of the last token. [vocabulary]. @pre sync() or append() came before
  std::span<const float> logits() const { return logits_; }

  std::span<const int32_t> tokens() const { return tokens_; }
  const Model& model() const { return model_; }

 private:
  void process(std::span<const int32_t> tokens, bool wants_logits, const LayerProgress& progress);
  void restart();

  Model& model_;
  SequenceId sequence_;
  std::vector<int32_t> tokens_;  // what the model's sequence holds
  std::vector<float> logits_;    // [vocabulary]
};

}  // namespace lagoon
