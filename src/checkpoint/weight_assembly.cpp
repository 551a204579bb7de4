#include "checkpoint/weight_assembly.h"

#include "base/error.h"
#include "checkpoint/affine_format.h"
#include "checkpoint/tensor_table.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace lagoon {
namespace {

using Kind = FaultList::Kind;

/// Where a matrix may be: under its own name or as the first or second half of the rows of `fused`; the one of an expert also
/// as a slice of a stack.
struct Need {
  Module module;
  int64_t rows;
  int64_t columns;
  int layer = -1;
  int expert = -1;
  std::optional<Module> fused = std::nullopt;
  bool second_half = false;
};

struct Place {
  ModulePath path;
  bool stacked = false;
  bool halved = false;
};

std::optional<ElementType> element_type(StoredType type) {
  switch (type) {
    case StoredType::f32:
      return ElementType::f32;
    case StoredType::f16:
      return ElementType::f16;
    case StoredType::bf16:
      return ElementType::bf16;
    default:
      return std::nullopt;
  }
}

/// Without dimensions of 1 behind the first, and then at the front, as long as there are more than `rank`: some exports of g_proj
/// have one too many.
std::vector<int64_t> squeezed(std::vector<int64_t> shape, size_t rank) {
  for (size_t at = shape.size(); at-- > 0 && shape.size() > rank;) {
    if (shape[at] == 1) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return shape;
}

class Assembler {
 public:
  Assembler(const ModelConfig& config, const QuantizationConfig& quantization, const WeightFiles& weights, std::string where)
      : config_(config), quantization_(quantization), weights_(weights), where_(std::move(where)), table_(weights.tensors, where_, faults_) {}

  AssembledWeights assemble() {
    table_.refuse_layers_beyond(config_.layer_count(), where_);
    AssembledWeights all;
    all.embedding = matrix({Module::embedding, config_.vocabulary, config_.hidden});
    all.final_norm = vector({Module::final_norm, 1, config_.hidden});
    all.head = matrix({Module::head, config_.vocabulary, config_.hidden});
    all.layers.resize(config_.layers.size());
    for (int layer = 0; layer < config_.layer_count() && !faults_.full(); ++layer) {
      LayerSource& source = all.layers[static_cast<size_t>(layer)];
      all.gates.push_back(attention(layer, source));
      if (config_.layers[static_cast<size_t>(layer)].dense) {
        source.mlp = mlp({Module::dense_gate, Module::dense_up, Module::dense_down, Module::dense_gate_up}, config_.dense_width, layer, -1);
      } else {
        experts(layer, source);
      }
    }
    table_.report_surplus(faults_, !faults_.full());
    faults_.throw_if_any(where_);
    all.bytes = bytes_;
    return all;
  }

 private:
  struct MlpModules {
    Module gate, up, down, fused;
  };

  GateKind attention(int layer, LayerSource& source) {
    const LayerConfig& shape = config_.layers[static_cast<size_t>(layer)];
    const int64_t width = int64_t{shape.query_heads} * config_.head_dim;
    source.attention_norm = vector({Module::attention_norm, 1, config_.hidden, layer});
    source.mlp_norm = vector({Module::mlp_norm, 1, config_.hidden, layer});
    source.query = matrix({Module::query, width, config_.hidden, layer});
    source.key = matrix({Module::key, config_.kv_width(), config_.hidden, layer});
    source.value = matrix({Module::value, config_.kv_width(), config_.hidden, layer});
    source.output = matrix({Module::output, config_.hidden, width, layer});
    source.query_norm = vector({Module::query_norm, 1, config_.head_dim, layer});
    source.key_norm = vector({Module::key_norm, 1, config_.head_dim, layer});
    const GateKind gate = gate_kind(layer, shape);
    source.gate = matrix({Module::attention_gate, gate == GateKind::per_head ? shape.query_heads : width, config_.hidden, layer});
    return gate;
  }

  /// From the rows of g_proj. What config.json names must agree; rows that fit neither kind are told by matrix().
  GateKind gate_kind(int layer, const LayerConfig& shape) {
    const TensorHeader* tensor = table_.find({Module::attention_gate, layer, -1}, Part::values);
    const std::vector<int64_t> found = tensor == nullptr ? std::vector<int64_t>{} : squeezed(tensor->shape, 2);
    if (found.empty()) return shape.gate;
    const int64_t width = int64_t{shape.query_heads} * config_.head_dim;
    if (found[0] != shape.query_heads && found[0] != width) return shape.gate;
    const GateKind gate = found[0] == shape.query_heads ? GateKind::per_head : GateKind::per_element;
    if (shape.stated_gate && gate != *shape.stated_gate) {
      faults_.add(Kind::contradictory, fmt::format("`{}` has {} rows, which is a gate {}, config.json says {}", printable(tensor->name), found[0],
                                                   gate == GateKind::per_head ? "per head" : "per element",
                                                   *shape.stated_gate == GateKind::per_head ? "per-head" : "per-element"));
    }
    return gate;
  }

  void experts(int layer, LayerSource& source) {
    source.router = matrix({Module::router, config_.experts, config_.hidden, layer});
    if (table_.find({Module::expert_bias, layer, -1}, Part::values) != nullptr) {
      source.expert_bias = vector({Module::expert_bias, 1, config_.experts, layer});
    }
    source.experts.reserve(static_cast<size_t>(config_.experts));
    for (int expert = 0; expert < config_.experts && !faults_.full(); ++expert) {
      source.experts.push_back(
          mlp({Module::expert_gate, Module::expert_up, Module::expert_down, Module::expert_gate_up}, config_.expert_width, layer, expert));
    }
    source.shared_expert =
        mlp({Module::shared_gate, Module::shared_up, Module::shared_down, Module::shared_gate_up}, config_.shared_width, layer, -1);
  }

  MlpSource mlp(const MlpModules& modules, int64_t width, int layer, int expert) {
    MlpSource source;
    source.gate = matrix({modules.gate, width, config_.hidden, layer, expert, modules.fused, false});
    source.up = matrix({modules.up, width, config_.hidden, layer, expert, modules.fused, true});
    source.down = matrix({modules.down, config_.hidden, width, layer, expert});
    return source;
  }

  /// Every place where the matrix stands. More than one is a fault, which is told here.
  std::optional<Place> locate(const Need& need) {
    std::vector<Place> places;
    const auto look = [&](Module module, int expert, bool stacked, bool halved) {
      const Place place{{module, need.layer, expert}, stacked, halved};
      if (table_.find(place.path, Part::values) != nullptr) places.push_back(place);
    };
    look(need.module, need.expert, false, false);
    if (need.fused) look(*need.fused, need.expert, false, true);
    if (need.expert >= 0) look(need.module, -1, true, false);
    if (need.expert >= 0 && need.fused) look(*need.fused, -1, true, true);
    if (places.empty()) {
      faults_.add(Kind::missing, fmt::format("`{}`", published_name({need.module, need.layer, need.expert}, Part::values)));
      return std::nullopt;
    }
    if (places.size() > 1) {
      const TensorHeader* first = take(places[0], Part::values);
      const TensorHeader* second = take(places[1], Part::values);
      faults_.add(Kind::doubled, fmt::format("`{}` and `{}`", printable(first->name), printable(second->name)));
      for (const Place& place : places) {
        for (const Part part : {Part::values, Part::scales, Part::biases}) take(place, part);
      }
      return std::nullopt;
    }
    return places.front();
  }

  const TensorHeader* take(const Place& place, Part part) { return table_.take(place.path, part); }

  /// Takes the part and checks its shape: [experts][rows][columns] of a stack, [rows][columns] alone, [columns] of a vector.
  const TensorHeader* take_shaped(const Need& need, const Place& place, Part part, int64_t columns) {
    const TensorHeader* tensor = take(place, part);
    if (tensor == nullptr) {
      faults_.add(Kind::missing, fmt::format("`{}{}`", printable(without_part(table_.find(place.path, Part::values)->name)),
                                             part == Part::scales ? ".scales" : ".biases"));
      return nullptr;
    }
    std::vector<int64_t> needed = shape_of(need, place, columns);
    const bool may_be_squeezed = need.module == Module::attention_gate;
    if ((may_be_squeezed ? squeezed(tensor->shape, needed.size()) : tensor->shape) != needed) return misshaped(*tensor, format_shape(needed));
    return tensor;
  }

  std::vector<int64_t> shape_of(const Need& need, const Place& place, int64_t columns) const {
    std::vector<int64_t> shape;
    if (place.stacked) shape.push_back(config_.experts);
    if (!is_vector(need.module)) shape.push_back(place.halved ? 2 * need.rows : need.rows);
    shape.push_back(columns);
    return shape;
  }

  static bool is_vector(Module module) {
    return module == Module::final_norm || module == Module::attention_norm || module == Module::mlp_norm || module == Module::query_norm ||
           module == Module::key_norm || module == Module::expert_bias;
  }

  const TensorHeader* misshaped(const TensorHeader& tensor, const std::string& needed) {
    faults_.add(Kind::misshaped, fmt::format("`{}` in `{}` is {} {}, {} was needed", printable(tensor.name),
                                             printable(weights_.files[static_cast<size_t>(tensor.file)]->path().filename().string()),
                                             name_of(tensor.type), format_shape(tensor.shape), needed));
    return nullptr;
  }

  /// The matrix's share of a tensor: its slice of a stack, its half of fused rows.
  ByteRange range_of(const Need& need, const Place& place, const TensorHeader& tensor) {
    const uint64_t pieces = (place.stacked ? static_cast<uint64_t>(config_.experts) : 1) * (place.halved ? 2 : 1);
    const uint64_t bytes = tensor.bytes / pieces;
    const uint64_t slice = place.stacked ? static_cast<uint64_t>(need.expert) : 0;
    const uint64_t index = place.halved ? 2 * slice + (need.second_half ? 1 : 0) : slice;
    bytes_ += bytes;
    return {tensor.file, tensor.offset + index * bytes, bytes};
  }

  static std::string name_of_source(const Need& need, const Place& place, const TensorHeader& tensor) {
    std::string name(without_part(tensor.name));
    if (place.stacked) name += fmt::format("[{}]", need.expert);
    if (place.halved) name += fmt::format("[rows {}:{}]", need.second_half ? need.rows : 0, need.second_half ? 2 * need.rows : need.rows);
    return name;
  }

  WeightSource vector(const Need& need) {
    const auto place = locate(need);
    if (!place) return {};
    const TensorHeader* tensor = take_shaped(need, *place, Part::values, need.columns);
    return tensor == nullptr ? WeightSource{} : plain(need, *place, *tensor);
  }

  WeightSource plain(const Need& need, const Place& place, const TensorHeader& tensor) {
    const auto element = element_type(tensor.type);
    if (!element) {
      misshaped(tensor, "BF16, F16 or F32");
      return {};
    }
    WeightSource source;
    source.name = name_of_source(need, place, tensor);
    source.format.element = *element;
    source.rows = need.rows;
    source.columns = need.columns;
    source.values = range_of(need, place, tensor);
    return source;
  }

  WeightSource matrix(const Need& need) {
    const auto place = locate(need);
    if (!place) return {};
    const TensorHeader* tensor = table_.find(place->path, Part::values);
    if (tensor->type == StoredType::u32) return affine(need, *place, *tensor);
    tensor = take_shaped(need, *place, Part::values, need.columns);
    if (tensor == nullptr) return {};
    WeightSource source = plain(need, *place, *tensor);
    check_against_config(need, source, *tensor);
    return source;
  }

  WeightSource affine(const Need& need, const Place& place, const TensorHeader& codes) {
    const TensorHeader* scales = table_.find(place.path, Part::scales);
    if (scales == nullptr || codes.shape.empty() || scales->shape.empty()) {
      take(place, Part::values);
      take_shaped(need, place, Part::scales, 0);
      if (table_.find(place.path, Part::biases) == nullptr) take_shaped(need, place, Part::biases, 0);
      take(place, Part::biases);
      return {};
    }
    // Of g_proj, a dimension of 1 may stand behind the columns.
    const size_t rank = shape_of(need, place, 0).size();
    const int64_t words = squeezed(codes.shape, rank).back();
    const int64_t groups = squeezed(scales->shape, rank).back();
    const auto format = affine_format_of(words, groups, need.columns);
    if (!format) return unfit(need, place, codes, *scales);
    const TensorHeader* values = take_shaped(need, place, Part::values, words);
    scales = take_shaped(need, place, Part::scales, groups);
    const TensorHeader* biases = take_shaped(need, place, Part::biases, groups);
    if (values == nullptr || scales == nullptr || biases == nullptr) return {};
    const auto element = element_type(scales->type);
    if (!element) misshaped(*scales, "BF16, F16 or F32");
    if (element && biases->type != scales->type) misshaped(*biases, fmt::format("{} as its scales", name_of(scales->type)));
    if (!element || biases->type != scales->type) return {};
    WeightSource source;
    source.name = name_of_source(need, place, codes);
    source.format = {WeightFormat::Kind::affine, *element, format->bits, format->group};
    source.rows = need.rows;
    source.columns = need.columns;
    source.values = range_of(need, place, codes);
    source.scales = range_of(need, place, *scales);
    source.biases = range_of(need, place, *biases);
    check_against_config(need, source, codes);
    return source;
  }

  WeightSource unfit(const Need& need, const Place& place, const TensorHeader& codes, const TensorHeader& scales) {
    misshaped(codes, fmt::format("with scales {} that fit {} inputs with {} bits in groups of {}", format_shape(scales.shape), need.columns,
                                 fmt::join(affine_bits, ", "), fmt::join(affine_groups, ", ")));
    for (const Part part : {Part::values, Part::scales, Part::biases}) take(place, part);
    return {};
  }

  /// The entry that speaks of this matrix, the most particular first: a map may be spelled by modules while the file is
  /// spelled as published, and the other way round.
  const StatedFormat* stated_format(const Need& need) const {
    for (const int expert : {need.expert, -1}) {
      if (const StatedFormat* entry = quantization_.entry({need.module, need.layer, expert})) return entry;
      if (!need.fused) continue;
      if (const StatedFormat* entry = quantization_.entry({*need.fused, need.layer, expert})) return entry;
    }
    return nullptr;
  }

  void check_against_config(const Need& need, const WeightSource& source, const TensorHeader& tensor) {
    const bool quantized = source.format.kind == WeightFormat::Kind::affine;
    const StatedFormat* stated = stated_format(need);
    // Without an entry of its own a tensor may be plain: which ones are quantized is told by their scales alone.
    if (stated == nullptr && quantized) stated = quantization_.everywhere();
    if (stated == nullptr) return;
    const bool agree = stated->quantized == quantized && (!quantized || (stated->bits.value_or(source.format.bits) == source.format.bits &&
                                                                         stated->group.value_or(source.format.group) == source.format.group));
    if (agree) return;
    const std::string header = quantized ? fmt::format("{}-bit codes in groups of {}", source.format.bits, source.format.group)
                                         : fmt::format("plain {}", name_of(tensor.type));
    faults_.add(Kind::contradictory, fmt::format("`{}`: the header holds {}, config.json says {}{}", printable(without_part(tensor.name)), header,
                                                 describe(*stated), stated->path.empty() ? "" : fmt::format(" (`{}`)", printable(stated->path))));
  }

  const ModelConfig& config_;
  const QuantizationConfig& quantization_;
  const WeightFiles& weights_;
  std::string where_;
  FaultList faults_;
  TensorTable table_;
  uint64_t bytes_ = 0;
};

}  // namespace

AssembledWeights assemble_weights(const ModelConfig& config, const QuantizationConfig& quantization, const WeightFiles& weights,
                                  const std::string& where) {
  return Assembler(config, quantization, weights, where).assemble();
}

}  // namespace lagoon
