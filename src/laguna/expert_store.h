// expert_store.h: where a layer's experts are. All of them are in memory today; whoever computes holds a lease all the same,
// so that experts read from disk can come behind the same call.
#pragma once

#include "laguna/weights.h"

#include <span>

namespace lagoon {

class ExpertStore {
 public:
  /// The right to read the experts asked for; they stay where they are as long as it lives.
  class Lease {
   public:
    const MlpWeights& operator[](int32_t expert) const { return experts_[static_cast<size_t>(expert)]; }

   private:
    friend class ExpertStore;
    explicit Lease(std::span<const MlpWeights> experts) : experts_(experts) {}
    std::span<const MlpWeights> experts_;
  };

  explicit ExpertStore(const ModelWeights& weights) : weights_(&weights) {}

  /// @param experts  ascending ids, each once
  Lease acquire(int layer, std::span<const int32_t> /*experts*/) const { return Lease(weights_->layers[static_cast<size_t>(layer)].experts); }

 private:
  const ModelWeights* weights_;
};

}  // namespace lagoon
