// weights.h: the numbers of a model in memory: the checkpoint's own, in tiles (kernels/tile_layout.h). The files are read in
// pieces by all threads, each of which packs its piece into its final place: there is never a second copy.
//
// Gate and up of an MLP alternate tile by tile, so that one pass reads both. Gate, up and down of a routed expert are one
// block that begins on a border of 4096 bytes.
#pragma once

#include "checkpoint/checkpoint.h"
#include "kernels/kernel_set.h"
#include "machine/memory_budget.h"
#include "machine/worker_pool.h"

#include <functional>
#include <vector>

namespace lagoon {

struct MlpWeights {
  WeightMatrix gate;  // [width][hidden]
  WeightMatrix up;    // [width][hidden]
  WeightMatrix down;  // [hidden][width]
};

struct LayerWeights {
  std::vector<float> attention_norm;  // [hidden]
  WeightMatrix query;                 // [heads * head_dim][hidden]
  WeightMatrix key;                   // [kv_heads * head_dim][hidden]
  WeightMatrix value;                 // [kv_heads * head_dim][hidden]
  WeightMatrix gate;                  // [heads][hidden], or [heads * head_dim][hidden]
  WeightMatrix output;                // [hidden][heads * head_dim]
  std::vector<float> query_norm;      // [head_dim]
  std::vector<float> key_norm;        // [head_dim]
  std::vector<float> mlp_norm;        // [hidden]
  MlpWeights mlp;                     // dense layers only; the rest sparse layers only
  WeightMatrix router;                // [experts][hidden]
  std::vector<float> expert_bias;     // [experts], added to the scores for the choice alone
  std::vector<MlpWeights> experts;    // [experts]
  MlpWeights shared_expert;
};

/// Bytes read so far and in all; called between reads by whichever thread read, one at a time.
using LoadProgress = std::function<void(uint64_t done, uint64_t total)>;

/// Matrices that share a line of the ledger.
struct WeightLine {
  std::string name;
  uint64_t bytes = 0;                         // as they lie in memory
  std::vector<const WeightSource*> matrices;  // of the checkpoint
};

class ModelWeights {
 public:
  /// Reads the whole checkpoint. A throwing `progress` cancels: its exception passes through.
  /// @throws Error(over_budget), Error(io), Error(corrupt)
  static ModelWeights load(const Checkpoint& checkpoint, MemoryBudget& budget, const KernelSet& kernels, WorkerPool& pool,
                           const LoadProgress& progress = {});

  /// What load() claims and keeps, by the names of the ledger: the published bytes and the padding of tiles.
  static std::vector<WeightLine> lines(const Checkpoint& checkpoint);

  /// Bytes that each thread holds while it reads; most often below 1 MiB. Given back at the end of load(), and not claimed.
  static uint64_t reading_bytes(const Checkpoint& checkpoint);

  WeightMatrix embedding;         // [vocabulary][hidden]
  std::vector<float> final_norm;  // [hidden]
  WeightMatrix head;              // [vocabulary][hidden]
  std::vector<LayerWeights> layers;

 private:
  std::vector<ClaimedBuffer<std::byte>> storage_;  // what the matrices point into
};

}  // namespace lagoon
