#include "checkpoint/synthetic_layout.h"

#include "base/error.h"

#include <cmath>
#include <utility>

namespace lagoon {
namespace {

constexpr float norm_spread = 0.1f;
constexpr float expert_bias_spread = 0.01f;
constexpr float scale_spread = 0.125f;  // of a scale, about its middle

/// Lists tensors one after the other.
class Lister {
 public:
  Lister(const ModelConfig& config, const FormatMap& formats, uint64_t seed) : config_(config), formats_(formats), seed_(seed) {}

  SyntheticLayout list() {
    matrix({Module::embedding}, config_.vocabulary, config_.hidden);
    for (int layer = 0; layer < config_.layer_count(); ++layer) {
      attention(layer, config_.layers[static_cast<size_t>(layer)]);
      if (config_.layers[static_cast<size_t>(layer)].dense) {
        mlp({Module::dense_gate, Module::dense_up, Module::dense_down}, layer, -1, config_.dense_width, 0);
      } else {
        sparse(layer);
      }
    }
    norm({Module::final_norm}, config_.hidden);
    matrix({Module::head}, config_.vocabulary, config_.hidden);
    return std::move(layout_);
  }

 private:
  struct MlpModules {
    Module gate, up, down;
  };

  void attention(int layer, const LayerConfig& shape) {
    const int64_t width = int64_t{shape.query_heads} * config_.head_dim;
    norm({Module::attention_norm, layer}, config_.hidden);
    matrix({Module::query, layer}, width, config_.hidden);
    matrix({Module::key, layer}, config_.kv_width(), config_.hidden);
    matrix({Module::value, layer}, config_.kv_width(), config_.hidden);
    norm({Module::query_norm, layer}, config_.head_dim);
    norm({Module::key_norm, layer}, config_.head_dim);
    matrix({Module::attention_gate, layer}, shape.gate == GateKind::per_head ? shape.query_heads : width, config_.hidden);
    matrix({Module::output, layer}, config_.hidden, width);
    norm({Module::mlp_norm, layer}, config_.hidden);
  }

  void sparse(int layer) {
    constexpr MlpModules of_experts{Module::expert_gate, Module::expert_up, Module::expert_down};
    matrix({Module::router, layer}, config_.experts, config_.hidden);
    const StoredType bias_type = formats_.half_expert_bias() ? StoredType::bf16 : StoredType::f32;
    const auto bias_kind = formats_.half_expert_bias() ? SyntheticValues::Kind::bf16 : SyntheticValues::Kind::f32;
    vector({Module::expert_bias, layer}, bias_type, config_.experts, {bias_kind, 0.0f, expert_bias_spread});
    if (formats_.everywhere()) {
      mlp(of_experts, layer, -1, config_.expert_width, config_.experts);
    } else {
      for (int expert = 0; expert < config_.experts; ++expert) mlp(of_experts, layer, expert, config_.expert_width, 0);
    }
    mlp({Module::shared_gate, Module::shared_up, Module::shared_down}, layer, -1, config_.shared_width, 0);
  }

  void mlp(const MlpModules& modules, int layer, int expert, int64_t width, int64_t stacked) {
    matrix({modules.gate, layer, expert}, width, config_.hidden, stacked);
    matrix({modules.up, layer, expert}, width, config_.hidden, stacked);
    matrix({modules.down, layer, expert}, config_.hidden, width, stacked);
  }

  /// @param stacked  matrices along a first dimension; 0: one matrix without such a dimension
  void matrix(const ModulePath& path, int64_t rows, int64_t columns, int64_t stacked = 0) {
    layout_.parameters += static_cast<uint64_t>(rows * columns * std::max<int64_t>(stacked, 1));
    std::vector<int64_t> shape = {rows, columns};
    if (stacked > 0) shape.insert(shape.begin(), stacked);
    const FormatMap::Format format = format_of(path, columns);
    if (format) return affine(path, shape, *format);
    // Uniform in +-sqrt(3 / columns): the deviation is 1 / sqrt(columns).
    add(path, Part::values, StoredType::bf16, shape, {SyntheticValues::Kind::bf16, 0.0f, std::sqrt(3.0f / static_cast<float>(columns))});
  }

  /// As MLX converts: matrices that groups do not divide stay as they are.
  FormatMap::Format format_of(const ModulePath& path, int64_t columns) {
    const FormatMap::Format format = formats_.of(path);
    return format && columns % format->group == 0 ? format : std::nullopt;
  }

  /// Codes of all values alike and a bias that puts their middle at zero: weights are uniform in about +-1.7 / sqrt(columns).
  void affine(const ModulePath& path, std::vector<int64_t> shape, const AffineFormat& format) {
    const int64_t columns = shape.back();
    if (formats_.everywhere() != format) layout_.entries.push_back({std::string(without_part(name_of(path, Part::values))), format});
    const auto highest = static_cast<float>((1 << format.bits) - 1);
    const float scale = 1.7f * 2.0f / (std::sqrt(static_cast<float>(columns)) * highest);
    shape.back() = columns * format.bits / 32;
    add(path, Part::values, StoredType::u32, shape, {});
    shape.back() = columns / format.group;
    SyntheticValues values{SyntheticValues::Kind::bf16, scale, scale_spread * scale};
    add(path, Part::scales, StoredType::bf16, shape, values);
    values.factor = -highest / 2.0f;
    add(path, Part::biases, StoredType::bf16, shape, values);
  }

  void norm(const ModulePath& path, int64_t width) { vector(path, StoredType::bf16, width, {SyntheticValues::Kind::bf16, 1.0f, norm_spread}); }

  void vector(const ModulePath& path, StoredType type, int64_t width, const SyntheticValues& values) {
    layout_.parameters += static_cast<uint64_t>(width);
    add(path, Part::values, type, {width}, values);
  }

  void add(const ModulePath& path, Part part, StoredType type, std::vector<int64_t> shape, SyntheticValues values) {
    // Scales and biases share a key: each bias is made of the scale beside it.
    values.key = synthetic_key(seed_, published_name(path, part == Part::biases ? Part::scales : part));
    layout_.tensors.push_back({{name_of(path, part), type, std::move(shape)}, values});
  }

  std::string name_of(const ModulePath& path, Part part) const {
    std::string name = published_name(path, part);
    if (!formats_.everywhere()) return name;
    const auto respell = [&name](std::string_view from, std::string_view to) {
      const size_t at = name.find(from);
      if (at != std::string::npos) name.replace(at, from.size(), to);
    };
    if (path.module == Module::router) respell(".mlp.gate.", ".mlp.gate.proj.");
    if (path.module == Module::expert_bias) respell(".mlp.experts.", ".mlp.gate.");
    respell(".mlp.experts.", ".mlp.switch_mlp.");
    return std::string(formats_.prefix()) + name;
  }

  const ModelConfig& config_;
  const FormatMap& formats_;
  uint64_t seed_;
  SyntheticLayout layout_;
};

}  // namespace

SyntheticLayout layout_synthetic(const ModelConfig& config, const FormatMap& formats, uint64_t seed) { return Lister(config, formats, seed).list(); }

}  // namespace lagoon
