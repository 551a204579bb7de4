// step.h: the token rows of one forward pass. A row knows its sequence's cache and its own position; rows of one sequence
// stand together in ascending position.
#pragma once

#include "base/matrix_view.h"
#include "laguna/kv_cache.h"
#include "laguna/router.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lagoon {

struct StepRow {
  int32_t token = 0;
  int64_t position = 0;
  KvCache* cache = nullptr;
};

struct Step {
  std::vector<StepRow> rows;
  std::vector<int32_t> logit_rows;  // indices into rows, ascending: whose logits are asked for
};

/// Looks on while a step is computed: to stop it, or to compare with another implementation. Each function may be empty.
struct StepObserver {
  /// Many times while a step is computed, on any of its threads, also on several at once. Throwing stops the step there; the sequences are
  /// then as before it.
  std::function<void()> check;
  /// Before each layer. Throwing does as in check.
  std::function<void(int layer)> layer;
  /// The residual stream: index 0 after the embedding, i after layer i - 1, and last (layers + 1) the logit rows after the
  /// final norm.
  std::function<void(int index, MatrixView<const float> residual)> residual;
  /// The experts of a sparse layer. [rows * experts per token], by row, then ascending id
  std::function<void(int layer, std::span<const Route> routes)> routes;
};

}  // namespace lagoon
