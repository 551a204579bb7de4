// session.h: one timeline of tokens. Callers say what the whole prefix is; the session reuses what the model already has of
// it, extends it, or builds it again, and says which. Used by one thread at a time.
#pragma once

#include "laguna/model.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lagoon {

class Session {
 public:
  struct Synced {
    int64_t reused = 0;     // tokens whose keys and values were there
    int64_t processed = 0;  // tokens computed now
  };

  /// Called between steps with tokens done and tokens to do; throwing stops there, and the session stays usable.
  using Progress = std::function<void(int64_t done, int64_t total)>;

  /// @param model  must outlive the session
  explicit Session(Model& model);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Makes the timeline equal to `prefix` and computes the logits of its last token.
  /// @param prefix  at least one token. @throws as Model::forward
  Synced sync(std::span<const int32_t> prefix, const Progress& progress = {});

  /// Appends one token and computes its logits.
  void append(int32_t token);

  /// Of the last token. [vocabulary]. @pre sync() or append() came before
  std::span<const float> logits() const { return logits_; }

  std::span<const int32_t> tokens() const { return tokens_; }
  const Model& model() const { return model_; }

 private:
  void process(std::span<const int32_t> tokens, bool wants_logits);
  void restart();

  Model& model_;
  SequenceId sequence_;
  std::vector<int32_t> tokens_;  // what the model's sequence holds
  std::vector<float> logits_;    // [vocabulary]
};

}  // namespace lagoon
