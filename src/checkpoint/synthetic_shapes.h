// synthetic_shapes.h: the shapes of the published models, and `mini`, as config.json says them.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace lagoon {

/// One YaRN rope of the full layers; sliding layers have the plain one of theta 10000.
struct FullRope {
  double factor = 1.0;
  int original_context = 0;
  double beta_fast = 32.0;
  double attention_factor = 1.0;
  double partial = 0.5;
};

struct PublishedShape {
  std::string_view name;
  int layers = 0;
  int hidden = 0;
  int dense_width = 0;
  int dense_layers = 0;   // the first so many; the others are sparse
  int full_heads = 0;     // query heads of full layers
  int sliding_heads = 0;  // of sliding layers, three of which follow each full one; 0: all layers are full
  int kv_heads = 0;
  int experts = 0;
  int experts_per_token = 0;
  int expert_width = 0;  // of the shared expert too
  double routed_scale = 1.0;
  bool per_element_gate = false;
  bool early_config = false;  // config.json says "gating": true, and not which layers are dense by "mlp_only_layers"
  int64_t max_context = 0;
  FullRope rope;
};

/// Ids that every shape shares.
constexpr int synthetic_vocabulary = 100352;
constexpr int synthetic_bos = 2;
constexpr int synthetic_pad = 9;

std::span<const PublishedShape> published_shapes();

/// nullptr if no shape has this name.
const PublishedShape* find_shape(std::string_view name);

/// config.json of the first `layers` layers, without quantization.
Json config_of(const PublishedShape& shape, int layers);

}  // namespace lagoon
