#include "checkpoint/quantization_config.h"

#include "base/error.h"
#include "checkpoint/config_reader.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lagoon {
namespace {

constexpr std::string_view what_runs = "Lagoon runs BF16, F16, F32 and MLX affine checkpoints";

struct ForeignMethod {
  std::string_view key;
  std::string_view name;
};
constexpr std::array<ForeignMethod, 12> foreign_methods{{
    {"gptq", "GPTQ"},
    {"awq", "AWQ"},
    {"compressed-tensors", "compressed-tensors"},
    {"bitsandbytes", "bitsandbytes"},
    {"fp8", "FP8"},
    {"fbgemm_fp8", "FP8 (FBGEMM)"},
    {"modelopt", "NVIDIA ModelOpt"},
    {"mxfp4", "MXFP4"},
    {"hqq", "HQQ"},
    {"quanto", "Quanto"},
    {"torchao", "torchao"},
    {"gguf", "GGUF"},
}};

constexpr std::array<ForeignMethod, 3> mlx_modes{{{"nvfp4", "MLX NVFP4"}, {"mxfp4", "MLX MXFP4"}, {"mxfp8", "MLX MXFP8"}}};

/// NVFP4, FP8, INT4 or INT8 within compressed-tensors, told by its "format" and the width of its first group.
std::string compressed_format(const ConfigReader& block) {
  const Json* stated = block.find("format");
  const std::string format = stated != nullptr && stated->is_string() ? stated->get<std::string>() : "";
  if (format.starts_with("nvfp4")) return "NVFP4 (compressed-tensors, " + printable(format) + ")";
  if (format.starts_with("mxfp4")) return "MXFP4 (compressed-tensors, " + printable(format) + ")";
  if (format == "float-quantized" || format == "naive-quantized") return "FP8 (compressed-tensors, " + format + ")";
  if (format == "pack-quantized") return "INT4 or INT8 (compressed-tensors, pack-quantized)";
  if (format == "int-quantized") return "INT8 (compressed-tensors, int-quantized)";
  return format.empty() ? "compressed-tensors" : "compressed-tensors (" + printable(format) + ")";
}

void refuse_foreign_methods(const ConfigReader& block) {
  const auto method = block.text("quant_method");
  if (!method || *method == "mlx" || *method == "affine") return;
  std::string name = "`" + printable(*method) + "`";
  for (const ForeignMethod& foreign : foreign_methods) {
    if (foreign.key == *method) name = foreign.name;
  }
  if (*method == "compressed-tensors") name = compressed_format(block);
  fail(ErrorKind::unsupported, "{} says that the weights are quantized as {}, which Lagoon does not run; {}", block.about("quant_method"), name,
       what_runs);
}

void check_mode(const ConfigReader& entry) {
  const auto mode = entry.text("mode");
  if (!mode || *mode == "affine") return;
  std::string name = "`" + printable(*mode) + "`";
  for (const ForeignMethod& foreign : mlx_modes) {
    if (foreign.key == *mode) name = foreign.name;
  }
  fail(ErrorKind::unsupported, "{} says that weights are quantized as {}, which Lagoon does not run; {}", entry.about("mode"), name, what_runs);
}

template <typename List>
std::optional<int> read_width(const ConfigReader& entry, std::string_view key, const List& accepted) {
  const auto value = entry.integer(key, 1, 1 << 20);
  if (!value) return std::nullopt;
  if (entry.find(key)->is_number_float()) {
    fail(ErrorKind::corrupt, "{} is {}, a whole number without a point was needed", entry.about(key), shown(*entry.find(key)));
  }
  if (std::find(accepted.begin(), accepted.end(), *value) == accepted.end()) {
    fail(ErrorKind::unsupported, "{} is {}; affine weights have {}", entry.about(key), *value, fmt::join(accepted, ", "));
  }
  return static_cast<int>(*value);
}

StatedFormat read_format(const ConfigReader& entry, std::string path) {
  check_mode(entry);
  StatedFormat stated;
  stated.bits = read_width(entry, "bits", affine_bits);
  stated.group = read_width(entry, "group_size", affine_groups);
  stated.path = std::move(path);
  return stated;
}

bool same(const StatedFormat& a, const StatedFormat& b) { return a.quantized == b.quantized && a.bits == b.bits && a.group == b.group; }

/// The block in `document`, or in its text_config.
std::optional<ConfigReader> find_block(const ConfigReader& document, std::string_view key) {
  if (auto block = document.child(key)) return block;
  if (const auto inner = document.child("text_config")) return inner->child(key);
  return std::nullopt;
}

}  // namespace

QuantizationConfig QuantizationConfig::read(const Json& document, std::string_view what) {
  const ConfigReader reader(document, std::string(what));
  const auto block = find_block(reader, "quantization");
  const auto twin = find_block(reader, "quantization_config");
  QuantizationConfig config;
  if (block) config = read_block(*block);
  if (!twin) return config;
  QuantizationConfig other = read_block(*twin);
  if (block && !config.says_the_same(other)) {
    fail(ErrorKind::corrupt, "{} and `quantization_config` differ; both must say how the weights are stored", reader.about("quantization"));
  }
  return other;
}

QuantizationConfig QuantizationConfig::read_block(const ConfigReader& block) {
  refuse_foreign_methods(block);
  QuantizationConfig config;
  config.everywhere_ = read_format(block, "");
  for (const auto& [path, value] : block.object().items()) {
    const auto module = parse_module_path(path);
    if (!value.is_object() && !value.is_boolean()) {
      if (!module) continue;
      fail(ErrorKind::corrupt, "{} is {}, an object with `bits` and `group_size`, true or false was needed", block.about(path), shown(value));
    }
    // A path of no Laguna module, such as a stale entry, can harm nothing where its format is sound: no tensor is read by it.
    if (!module && value.is_object()) read_format(block.child_at(path, value), path);
    if (!module || value == true) continue;  // true: as the top says
    StatedFormat stated;
    if (value.is_object()) {
      stated = read_format(block.child_at(path, value), path);
    } else {
      stated.quantized = false;
      stated.path = path;
    }
    const auto [at, added] = config.entries_.emplace(module->key(), stated);
    if (!added && !same(at->second, stated)) {
      fail(ErrorKind::corrupt, "{} says {}, `{}` means the same module and says {}; keep one of the two", block.about(path), describe(stated),
           printable(at->second.path), describe(at->second));
    }
  }
  return config;
}

bool QuantizationConfig::says_the_same(const QuantizationConfig& other) const {
  if (!same(*everywhere_, *other.everywhere_) || entries_.size() != other.entries_.size()) return false;
  return std::all_of(entries_.begin(), entries_.end(), [&](const auto& item) {
    const auto at = other.entries_.find(item.first);
    return at != other.entries_.end() && same(item.second, at->second);
  });
}

const StatedFormat* QuantizationConfig::entry(const ModulePath& path) const {
  const auto at = entries_.find(path.key());
  return at == entries_.end() ? nullptr : &at->second;
}

std::string describe(const StatedFormat& stated) {
  if (!stated.quantized) return "not quantized";
  return fmt::format("{} in groups of {}", stated.bits ? fmt::format("{}-bit", *stated.bits) : "unstated width",
                     stated.group ? std::to_string(*stated.group) : "unstated size");
}

}  // namespace lagoon
