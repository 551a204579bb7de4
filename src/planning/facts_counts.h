// facts_counts.h: parameters of a checkpoint, counted from its headers in numbers of the unquantized model.
#pragma once

#include "checkpoint/checkpoint.h"

#include <cstdint>
#include <optional>
#include <string>

namespace lagoon {

struct ParameterCounts {
  uint64_t total = 0;
  uint64_t embedding = 0;  // embedding and head
  uint64_t head = 0;
  uint64_t nonembedding = 0;
  uint64_t largest_layer = 0;
  int largest_at = 0;
  uint64_t active_nonembedding = 0;
};

ParameterCounts count_parameters(const Checkpoint& checkpoint);

/// The scope under which a count comes closest to what is stated.
struct ScopeMatch {
  std::string scope;
  uint64_t counted = 0;
  double deviation = 0.0;  // from what is stated, 0.05 for 5 %

  bool reproduces() const { return deviation <= 0.05; }
};

/// @pre stated > 0
ScopeMatch match_total(const ParameterCounts& counts, double stated);
ScopeMatch match_active(const ParameterCounts& counts, double stated);

/// "117.6B", "616.6M", "8B": four significant digits at most.
std::string short_count(double count);

}  // namespace lagoon
