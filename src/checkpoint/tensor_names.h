// tensor_names.h: what a tensor's name means, in each spelling that is published.
//
//   on disk (Poolside)    model.layers.3.mlp.experts.7.gate_proj.weight, mlp.shared_expert.*, mlp.experts.e_score_correction_bias
//   modules (HF)          mlp.experts.gate_up_proj [E, 2I, H] and mlp.experts.down_proj [E, H, I] without ".weight", mlp.shared_experts.*,
//                         mlp.gate.e_score_correction_bias
//   mlx-lm                mlp.switch_mlp.{gate,up,down}_proj.{weight,scales,biases} [E, ...], router mlp.gate or mlp.gate.proj
//   mlx-vlm, oQ           the prefix "language_model.", switch_mlp.gate_up_proj (gate rows first)
//
// The spellings may differ from layer to layer; a prefix must be on all tensors or on none.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lagoon {

/// The parts of the architecture that own a tensor. `gate_up` holds the rows of gate, then those of up.
enum class Module : uint8_t {
  embedding,
  final_norm,
  head,
  attention_norm,
  mlp_norm,
  query,
  key,
  value,
  attention_gate,
  output,
  query_norm,
  key_norm,
  dense_gate,
  dense_up,
  dense_down,
  dense_gate_up,
  router,
  expert_bias,
  expert_gate,
  expert_up,
  expert_down,
  expert_gate_up,
  shared_gate,
  shared_up,
  shared_down,
  shared_gate_up
};

struct ModulePath {
  Module module = Module::embedding;
  int layer = -1;   // -1: none
  int expert = -1;  // -1: none, or all experts stacked along a first dimension

  auto operator<=>(const ModulePath&) const = default;
  /// Distinct for distinct paths, below 2^56.
  uint64_t key() const {
    return static_cast<uint64_t>(module) << 48 | static_cast<uint64_t>(static_cast<uint16_t>(layer + 1)) << 32 | static_cast<uint32_t>(expert + 1);
  }
};

enum class Part : uint8_t { values, scales, biases };

enum class Prefix : uint8_t { none, language_model };

struct TensorName {
  ModulePath path;
  Part part = Part::values;
  Prefix prefix = Prefix::none;
};

/// Layer numbers from here on are no names of Laguna tensors.
constexpr int layer_limit = 1024;

/// @return nullopt for a name that belongs to no part of a Laguna model, whatever its size
std::optional<TensorName> parse_tensor_name(std::string_view name);

/// A key of a quantization map: a tensor's or a module's name in any of the spellings, with or without ".weight".
std::optional<ModulePath> parse_module_path(std::string_view path);

/// The name as Poolside's files spell it, for sentences: "model.layers.3.mlp.experts.7.gate_proj.weight".
std::string published_name(const ModulePath& path, Part part);

/// Name without ".weight", ".scales" or ".biases" at its end.
std::string_view without_part(std::string_view name);

/// Tensors that a complete Laguna needs not: scales of a quantized KV cache, stored rotary frequencies.
bool is_ignorable(std::string_view name);

/// The layer in "model.layers.48.whatever", with or without prefix; nullopt if the name has another form.
std::optional<int> layer_of(std::string_view name);

}  // namespace lagoon
