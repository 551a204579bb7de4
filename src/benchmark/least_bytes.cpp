#include "benchmark/least_bytes.h"

#include "kernels/tile_layout.h"

namespace lagoon {
namespace {

uint64_t bytes_in_memory(const WeightSource& source) {
  return static_cast<uint64_t>(tile_count(source.rows) * tile_bytes(source.format, source.columns));
}

uint64_t bytes_in_memory(const MlpSource& mlp) { return bytes_in_memory(mlp.gate) + bytes_in_memory(mlp.up) + bytes_in_memory(mlp.down); }

}  // namespace

uint64_t weight_bytes_of_a_token(const Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config();
  const WeightSource& embedding = checkpoint.embedding();
  uint64_t bytes = bytes_in_memory(checkpoint.head()) + static_cast<uint64_t>(tile_bytes(embedding.format, embedding.columns) / tile_rows);
  for (int at = 0; at < config.layer_count(); ++at) {
    const LayerSource& layer = checkpoint.layer(at);
    for (const WeightSource* matrix : {&layer.query, &layer.key, &layer.value, &layer.gate, &layer.output}) bytes += bytes_in_memory(*matrix);
    if (config.layers[static_cast<size_t>(at)].dense) {
      bytes += bytes_in_memory(layer.mlp);
      continue;
    }
    bytes += bytes_in_memory(layer.router) + bytes_in_memory(layer.shared_expert);
    bytes += static_cast<uint64_t>(config.experts_per_token) * bytes_in_memory(layer.experts.front());  // the experts of a layer are alike
  }
  return bytes;
}

}  // namespace lagoon
