#include "laguna/weight_layout.h"

#include "kernels/tile_layout.h"

namespace lagoon {
namespace {

constexpr size_t expert_alignment = 4096;  // what direct reads from a disk ask for

int64_t bytes_of_tile(const WeightSource& source) { return tile_bytes(source.format, source.columns); }

class BlockBuilder {
 public:
  explicit BlockBuilder(const char* name) { block_.name = name; }

  void add(const WeightSource& source, WeightMatrix& target) {
    place(source, target, block_.bytes, bytes_of_tile(source));
    block_.bytes += static_cast<size_t>(tile_count(source.rows) * bytes_of_tile(source));
  }

  /// Gate and up tiles in turn, then down.
  void add(const MlpSource& source, MlpWeights& target) {
    const int64_t both = bytes_of_tile(source.gate) + bytes_of_tile(source.up);
    place(source.gate, target.gate, block_.bytes, both);
    place(source.up, target.up, block_.bytes + static_cast<size_t>(bytes_of_tile(source.gate)), both);
    block_.bytes += static_cast<size_t>(tile_count(source.gate.rows) * both);
    add(source.down, target.down);
  }

  void align(size_t border) { block_.bytes = (block_.bytes + border - 1) / border * border; }

  WeightBlock take() { return std::move(block_); }

 private:
  void place(const WeightSource& source, WeightMatrix& target, size_t offset, int64_t stride) {
    target = WeightMatrix{.format = source.format, .rows = source.rows, .columns = source.columns};
    block_.places.push_back({&source, &target, offset, stride});
  }

  WeightBlock block_;
};

WeightBlock lay_out_matrix(const char* name, const WeightSource& source, WeightMatrix& target) {
  BlockBuilder builder(name);
  builder.add(source, target);
  return builder.take();
}

WeightBlock lay_out_attention(const LayerSource& source, LayerWeights& layer) {
  BlockBuilder builder("weights: attention");
  builder.add(source.query, layer.query);
  builder.add(source.key, layer.key);
  builder.add(source.value, layer.value);
  builder.add(source.gate, layer.gate);
  builder.add(source.output, layer.output);
  return builder.take();
}

WeightBlock lay_out_mlp(const char* name, const MlpSource& source, MlpWeights& target) {
  BlockBuilder builder(name);
  builder.add(source, target);
  return builder.take();
}

WeightBlock lay_out_experts(const LayerSource& source, LayerWeights& layer) {
  BlockBuilder builder("weights: experts");
  layer.experts.resize(source.experts.size());
  for (size_t expert = 0; expert < source.experts.size(); ++expert) {
    builder.align(expert_alignment);
    builder.add(source.experts[expert], layer.experts[expert]);
  }
  return builder.take();
}

}  // namespace

std::vector<WeightBlock> lay_out_weights(const Checkpoint& checkpoint, ModelWeights& weights) {
  const ModelConfig& config = checkpoint.config();
  std::vector<WeightBlock> blocks;
  blocks.push_back(lay_out_matrix("weights: embedding", checkpoint.embedding(), weights.embedding));
  weights.layers.resize(static_cast<size_t>(config.layer_count()));
  for (int at = 0; at < config.layer_count(); ++at) {
    const LayerSource& source = checkpoint.layer(at);
    LayerWeights& layer = weights.layers[static_cast<size_t>(at)];
    blocks.push_back(lay_out_attention(source, layer));
    if (config.layers[static_cast<size_t>(at)].dense) {
      blocks.push_back(lay_out_mlp("weights: dense layers", source.mlp, layer.mlp));
      continue;
    }
    blocks.push_back(lay_out_matrix("weights: routers", source.router, layer.router));
    blocks.push_back(lay_out_mlp("weights: shared experts", source.shared_expert, layer.shared_expert));
    blocks.push_back(lay_out_experts(source, layer));
  }
  blocks.push_back(lay_out_matrix("weights: head", checkpoint.head(), weights.head));
  return blocks;
}

}  // namespace lagoon
