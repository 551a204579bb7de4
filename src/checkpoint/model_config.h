// model_config.h: config.json of a Laguna checkpoint, read key by key and normalised: every spelling that is published ends
// in the same struct, and what Lagoon does not run is refused here with the reason.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

enum class AttentionKind { full, sliding };
enum class GateKind { per_head, per_element };

/// Rotary embedding of one kind of layer. Formulas: laguna/rotary.h.
struct RotaryConfig {
  bool yarn = false;  // false: the plain ("default") rope
  double theta = 10000.0;
  int dimensions = 0;  // of each head, from the front: rotated; even, at most head_dim
  // YaRN only
  double factor = 1.0;
  double original_context = 0.0;  // tokens
  double beta_fast = 32.0;
  double beta_slow = 1.0;
  double attention_factor = 1.0;  // multiplies cos and sin; 1 for the plain rope
};

struct LayerConfig {
  AttentionKind attention = AttentionKind::full;
  int query_heads = 0;
  GateKind gate = GateKind::per_head;   // decided by the rows of g_proj when a checkpoint is opened
  bool dense = false;                   // a plain MLP instead of experts
  std::optional<GateKind> stated_gate;  // as config.json names it; nullopt where it leaves that open ("gating": true)
};

struct ModelConfig {
  int vocabulary = 0;
  int hidden = 0;
  int head_dim = 0;
  int kv_heads = 0;
  int dense_width = 0;   // inner width of a dense layer's MLP
  int expert_width = 0;  // of one routed expert
  int shared_width = 0;  // of the shared expert
  int experts = 0;
  int experts_per_token = 0;
  int sliding_window = 0;  // keys a sliding layer sees, the token itself included; 0 if no layer slides
  float rms_epsilon = 1e-6f;
  float routed_scale = 1.0f;
  float router_softcap = 0.0f;  // 0: none
  int64_t max_context = 0;      // max_position_embeddings, tokens
  RotaryConfig full_rotary;
  RotaryConfig sliding_rotary;
  std::vector<LayerConfig> layers;
  std::vector<std::string> assumptions;  // sentences: what config.json leaves open (config_assumptions.h, rope_config.h)
  std::vector<int32_t> eos_ids;          // of config.json; generation_config.json may name more

  int layer_count() const { return static_cast<int>(layers.size()); }
  int kv_width() const { return kv_heads * head_dim; }
  const RotaryConfig& rotary(AttentionKind kind) const { return kind == AttentionKind::full ? full_rotary : sliding_rotary; }
};

/// @param document  config.json as parsed; its "text_config", where there is one, is what counts
/// @param what      the file, which begins each sentence
/// @throws Error(unsupported) for what Lagoon does not run, Error(corrupt) for wrong types, ranges and contradictions; each
/// names the key, what was found and what was needed. Keys without a meaning here are passed over.
ModelConfig read_model_config(const Json& document, std::string_view what);

}  // namespace lagoon
