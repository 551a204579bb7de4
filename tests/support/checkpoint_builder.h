// checkpoint_builder.h: small synthetic Laguna checkpoints for tests, in each spelling, quantized as wanted, sharded or not.
// Build one, change what the case is about, write it:
//   TemporaryFolder folder;
//   CheckpointBuilder builder;
//   builder.quantize("lm_head", 8, 64).respell(Spelling::mlx_lm);
//   builder.config["num_experts_per_tok"] = 3;
//   builder.write(folder.path());
// Values are random with a constant seed: matrices about 1/sqrt(columns), norms about 1.
#pragma once

#include "base/bfloat16.h"
#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "support/temporary_folder.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lagoon::testing_support {

inline void write_file(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file) throw std::runtime_error("a test file could not be written");
}

/// A safetensors file of any header text, sound or not.
inline std::string raw_safetensors(std::string_view header, std::string_view data) {
  const uint64_t length = header.size();
  std::string text(sizeof(length), '\0');
  std::memcpy(text.data(), &length, sizeof(length));
  return text.append(header).append(data);
}

struct BuiltTensor {
  std::string name;
  StoredType type = StoredType::bf16;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};

enum class Spelling {
  published,  // as Poolside's files: experts apart
  modules,    // as transformers' modules: experts stacked, gate and up fused, shared_experts
  mlx_lm,     // switch_mlp, router mlp.gate.proj
  mlx_vlm     // the prefix language_model., switch_mlp with gate and up fused
};

struct CheckpointShape {
  int hidden = 64;
  int vocabulary = 48;
  int head_dim = 32;
  int kv_heads = 2;
  int dense_width = 128;
  int expert_width = 64;
  int shared_width = 64;
  int experts = 4;
  int experts_per_token = 2;
  int window = 8;
  bool per_element_gate = false;
  std::vector<int> query_heads = {4, 6, 4};
  std::vector<bool> sliding = {false, true, false};
  std::vector<bool> dense = {true, false, false};
};

class CheckpointBuilder {
 public:
  explicit CheckpointBuilder(CheckpointShape shape = {}, uint64_t seed = 1) : shape_(std::move(shape)), state_(seed * 2654435769u + 1) {
    make_config();
    make_tensors();
  }

  Json config;
  std::vector<BuiltTensor> tensors;

  BuiltTensor* find(std::string_view name) {
    for (BuiltTensor& tensor : tensors) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  }
  BuiltTensor& at(std::string_view name) {
    if (BuiltTensor* tensor = find(name)) return *tensor;
    throw std::runtime_error("the builder has no tensor " + std::string(name));
  }
  CheckpointBuilder& remove(std::string_view name) {
    at(name);
    std::erase_if(tensors, [&](const BuiltTensor& tensor) { return tensor.name == name; });
    return *this;
  }
  CheckpointBuilder& rename(std::string_view from, std::string_view to) {
    at(from).name = to;
    return *this;
  }
  CheckpointBuilder& add(std::string name, StoredType type, std::vector<int64_t> shape) {
    BuiltTensor tensor{std::move(name), type, std::move(shape), {}};
    int64_t bits = bits_of(type);
    for (const int64_t dimension : tensor.shape) bits *= dimension;
    tensor.bytes.resize(static_cast<size_t>(bits / 8));
    tensors.push_back(std::move(tensor));
    return *this;
  }

  /// Replaces NAME.weight of every name that contains `part` by random codes, scales and biases of the format. Before respell().
  CheckpointBuilder& quantize(std::string_view part, int bits, int group, StoredType scale_type = StoredType::bf16) {
    std::vector<BuiltTensor> replaced;
    for (BuiltTensor& tensor : tensors) {
      const bool matrix = tensor.shape.size() == 2 && tensor.type != StoredType::u32 && tensor.name.ends_with(".weight");
      if (!matrix || tensor.name.find(part) == std::string::npos) {
        replaced.push_back(std::move(tensor));
        continue;
      }
      const std::string module = tensor.name.substr(0, tensor.name.size() - std::string_view(".weight").size());
      const int64_t rows = tensor.shape[0];
      const int64_t columns = tensor.shape[1];
      BuiltTensor codes{tensor.name, StoredType::u32, {rows, columns * bits / 32}, {}};
      codes.bytes.resize(static_cast<size_t>(rows * columns * bits / 8));
      for (std::byte& byte : codes.bytes) byte = static_cast<std::byte>(next() & 0xff);
      const float width = 2.0f / std::sqrt(static_cast<float>(columns));
      replaced.push_back(std::move(codes));
      const auto floats = [&](float value) { return random_floats(rows * columns / group, value, 0.25f * value, scale_type); };
      replaced.push_back({module + ".scales", scale_type, {rows, columns / group}, floats(2 * width / static_cast<float>((1 << bits) - 1))});
      replaced.push_back({module + ".biases", scale_type, {rows, columns / group}, floats(-width)});
    }
    tensors = std::move(replaced);
    return *this;
  }

  /// From the published spelling, in which the builder starts, to another. Quantized experts are stacked part by part.
  CheckpointBuilder& respell(Spelling spelling) {
    if (spelling == Spelling::published) return *this;
    stack_experts(spelling);
    for (BuiltTensor& tensor : tensors) {
      if (spelling == Spelling::modules) {
        replace(tensor.name, ".shared_expert.", ".shared_experts.");
        replace(tensor.name, ".mlp.experts.e_score", ".mlp.gate.e_score");
      } else {
        replace(tensor.name, ".mlp.experts.e_score", ".mlp.gate.e_score");
        for (const char* part : {".weight", ".scales", ".biases"})
          replace(tensor.name, std::string(".mlp.gate") + part, std::string(".mlp.gate.proj") + part);
        if (spelling == Spelling::mlx_vlm) tensor.name = "language_model." + tensor.name;
      }
    }
    return *this;
  }

  /// config.json and model.safetensors, or `shards` numbered files with their index.
  void write(const std::filesystem::path& folder, int shards = 1, bool with_index = true) const {
    write_file(folder / "config.json", config.dump(2));
    if (shards == 1) return write_tensors(folder / "model.safetensors", 0, 1);
    Json map = Json::object();
    for (int shard = 0; shard < shards; ++shard) {
      const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards);
      write_tensors(folder / name, static_cast<size_t>(shard), static_cast<size_t>(shards));
      for (size_t at = static_cast<size_t>(shard); at < tensors.size(); at += static_cast<size_t>(shards)) map[tensors[at].name] = name;
    }
    if (with_index) write_file(folder / "model.safetensors.index.json", Json{{"metadata", {{"total_size", 0}}}, {"weight_map", map}}.dump());
  }

 private:
  uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }
  float uniform() { return static_cast<float>(next()) / 1073741824.0f - 1.0f; }  // [-1, 1)

  std::vector<std::byte> random_floats(int64_t count, float middle, float spread, StoredType type) {
    std::vector<std::byte> bytes;
    for (int64_t i = 0; i < count; ++i) {
      const float value = middle + spread * uniform();
      const auto put = [&](const auto& number) {
        const auto view = std::as_bytes(std::span(&number, 1));
        bytes.insert(bytes.end(), view.begin(), view.end());
      };
      if (type == StoredType::f32) {
        put(value);
      } else if (type == StoredType::bf16) {
        put(to_bfloat16(value));
      } else {  // f16 by truncation: in range and good enough for random values
        const auto bits = std::bit_cast<uint32_t>(value);
        const int exponent = static_cast<int>((bits >> 23) & 0xff) - 112;
        put(static_cast<uint16_t>(((bits >> 16) & 0x8000) | (exponent > 0 ? static_cast<uint32_t>(exponent) << 10 | ((bits >> 13) & 0x3ff) : 0)));
      }
    }
    return bytes;
  }

  void matrix(const std::string& module, int rows, int columns) {
    const float spread = 1.7f / std::sqrt(static_cast<float>(columns));
    tensors.push_back(
        {module + ".weight", StoredType::bf16, {rows, columns}, random_floats(int64_t{rows} * columns, 0.0f, spread, StoredType::bf16)});
  }
  void norm(const std::string& module, int width) {
    tensors.push_back({module + ".weight", StoredType::bf16, {width}, random_floats(width, 1.0f, 0.2f, StoredType::bf16)});
  }
  void mlp(const std::string& module, int width) {
    matrix(module + ".gate_proj", width, shape_.hidden);
    matrix(module + ".up_proj", width, shape_.hidden);
    matrix(module + ".down_proj", shape_.hidden, width);
  }

  void make_config() {
    Json layer_types = Json::array();
    Json mlp_types = Json::array();
    for (const bool sliding : shape_.sliding) layer_types.push_back(sliding ? "sliding_attention" : "full_attention");
    for (const bool dense : shape_.dense) mlp_types.push_back(dense ? "dense" : "sparse");
    config = Json{{"architectures", {"LagunaForCausalLM"}},
                  {"model_type", "laguna"},
                  {"vocab_size", shape_.vocabulary},
                  {"hidden_size", shape_.hidden},
                  {"head_dim", shape_.head_dim},
                  {"intermediate_size", shape_.dense_width},
                  {"num_hidden_layers", shape_.query_heads.size()},
                  {"num_attention_heads", shape_.query_heads[0]},
                  {"num_attention_heads_per_layer", shape_.query_heads},
                  {"num_key_value_heads", shape_.kv_heads},
                  {"layer_types", layer_types},
                  {"mlp_layer_types", mlp_types},
                  {"sliding_window", shape_.window},
                  {"num_experts", shape_.experts},
                  {"num_experts_per_tok", shape_.experts_per_token},
                  {"moe_intermediate_size", shape_.expert_width},
                  {"shared_expert_intermediate_size", shape_.shared_width},
                  {"moe_routed_scaling_factor", 2.5},
                  {"max_position_embeddings", 1024},
                  {"rms_norm_eps", 1e-6},
                  {"gating", shape_.per_element_gate ? "per-element" : "per-head"},
                  {"eos_token_id", {2, 24}},
                  {"tie_word_embeddings", false}};
    config["rope_parameters"] = {{"full_attention",
                                  {{"rope_type", "yarn"},
                                   {"rope_theta", 500000.0},
                                   {"factor", 8.0},
                                   {"original_max_position_embeddings", 64},
                                   {"beta_fast", 32.0},
                                   {"beta_slow", 1.0},
                                   {"attention_factor", 1.2079441541679836},
                                   {"partial_rotary_factor", 0.5}}},
                                 {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 10000.0}, {"partial_rotary_factor", 1.0}}}};
  }

  void make_tensors() {
    matrix("model.embed_tokens", shape_.vocabulary, shape_.hidden);
    for (size_t layer = 0; layer < shape_.query_heads.size(); ++layer) {
      const std::string prefix = "model.layers." + std::to_string(layer) + ".";
      const int width = shape_.query_heads[layer] * shape_.head_dim;
      norm(prefix + "input_layernorm", shape_.hidden);
      norm(prefix + "post_attention_layernorm", shape_.hidden);
      matrix(prefix + "self_attn.q_proj", width, shape_.hidden);
      matrix(prefix + "self_attn.k_proj", shape_.kv_heads * shape_.head_dim, shape_.hidden);
      matrix(prefix + "self_attn.v_proj", shape_.kv_heads * shape_.head_dim, shape_.hidden);
      matrix(prefix + "self_attn.g_proj", shape_.per_element_gate ? width : shape_.query_heads[layer], shape_.hidden);
      matrix(prefix + "self_attn.o_proj", shape_.hidden, width);
      norm(prefix + "self_attn.q_norm", shape_.head_dim);
      norm(prefix + "self_attn.k_norm", shape_.head_dim);
      if (shape_.dense[layer]) {
        mlp(prefix + "mlp", shape_.dense_width);
        continue;
      }
      matrix(prefix + "mlp.gate", shape_.experts, shape_.hidden);
      tensors.push_back({prefix + "mlp.experts.e_score_correction_bias",
                         StoredType::f32,
                         {shape_.experts},
                         random_floats(shape_.experts, 0.0f, 0.1f, StoredType::f32)});
      for (int expert = 0; expert < shape_.experts; ++expert) mlp(prefix + "mlp.experts." + std::to_string(expert), shape_.expert_width);
      mlp(prefix + "mlp.shared_expert", shape_.shared_width);
    }
    norm("model.norm", shape_.hidden);
    matrix("lm_head", shape_.vocabulary, shape_.hidden);
  }

  static void replace(std::string& text, std::string_view from, std::string_view to) {
    const size_t at = text.find(from);
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }

  /// Concatenates the experts of each layer along a new first dimension; gate and up of one expert along the rows if fused.
  void stack_experts(Spelling spelling) {
    const bool fused = spelling != Spelling::mlx_lm;
    for (size_t layer = 0; layer < shape_.query_heads.size(); ++layer) {
      if (shape_.dense[layer]) continue;
      const std::string mlp = "model.layers." + std::to_string(layer) + ".mlp.";
      for (const char* part : {".weight", ".scales", ".biases"}) {
        if (find(mlp + "experts.0.gate_proj" + part) == nullptr) continue;
        const std::string stack = mlp + (spelling == Spelling::modules ? "experts." : "switch_mlp.");
        const std::string ending = spelling == Spelling::modules && part == std::string_view(".weight") ? "" : part;
        if (fused) {
          stack_into(stack + "gate_up_proj" + ending, mlp, {std::string("gate_proj") + part, std::string("up_proj") + part});
        } else {
          stack_into(stack + "gate_proj" + ending, mlp, {std::string("gate_proj") + part});
          stack_into(stack + "up_proj" + ending, mlp, {std::string("up_proj") + part});
        }
      }
      for (const char* part : {".weight", ".scales", ".biases"}) {
        if (find(mlp + "experts.0.down_proj" + part) == nullptr) continue;
        const std::string stack = mlp + (spelling == Spelling::modules ? "experts." : "switch_mlp.");
        const std::string ending = spelling == Spelling::modules && part == std::string_view(".weight") ? "" : part;
        stack_into(stack + "down_proj" + ending, mlp, {std::string("down_proj") + part});
      }
    }
  }

  void stack_into(const std::string& name, const std::string& mlp, const std::vector<std::string>& pieces) {
    BuiltTensor stacked{name, StoredType::bf16, {shape_.experts, 0, 0}, {}};
    for (int expert = 0; expert < shape_.experts; ++expert) {
      for (const std::string& piece : pieces) {
        const std::string source = mlp + "experts." + std::to_string(expert) + "." + piece;
        const BuiltTensor& tensor = at(source);
        stacked.type = tensor.type;
        stacked.shape = {shape_.experts, tensor.shape[0] * static_cast<int64_t>(pieces.size()), tensor.shape[1]};
        stacked.bytes.insert(stacked.bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
        remove(source);
      }
    }
    tensors.push_back(std::move(stacked));
  }

  /// Not through safetensors_writer: that one waits for the disk, which a test need not.
  void write_tensors(const std::filesystem::path& path, size_t first, size_t step) const {
    Json header = Json::object();
    std::string data;
    for (size_t at = first; at < tensors.size(); at += step) {
      const BuiltTensor& tensor = tensors[at];
      const size_t begin = data.size();
      data.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
      header[tensor.name] = {{"dtype", std::string(name_of(tensor.type))}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
    }
    write_file(path, raw_safetensors(header.dump(), data));
  }

  CheckpointShape shape_;
  uint64_t state_;
};

}  // namespace lagoon::testing_support
