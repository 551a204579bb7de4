#include "checkpoint/foreign_formats.h"

#include "base/error.h"
#include "checkpoint/tensor_names.h"

#include <optional>
#include <string_view>
#include <unordered_map>

namespace lagoon {
namespace {

using ByName = std::unordered_map<std::string_view, const TensorHeader*>;

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  for (const std::string_view ending : endings) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

bool contains_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

const TensorHeader* companion(const ByName& tensors, std::string_view name, std::string_view ending) {
  const auto at = tensors.find(std::string(name.substr(0, name.rfind('.'))) + std::string(ending));
  return at == tensors.end() ? nullptr : at->second;
}

bool is_f8(StoredType type) { return bits_of(type) == 8 && name_of(type).starts_with("F8"); }

std::string packed_name(const TensorHeader& packed, const ByName& tensors) {
  if (packed.type == StoredType::u8) return "NVFP4 (compressed-tensors)";
  const TensorHeader* scale = companion(tensors, packed.name, ".weight_scale");
  if (scale != nullptr && is_f8(scale->type)) return "NVFP4 (compressed-tensors)";
  return "INT4 or INT8 (compressed-tensors)";
}

/// MLX floating modes have U8 scales: 16 inputs a scale for nvfp4, 32 for mxfp4 and mxfp8, which differ in the width of codes.
std::string mlx_mode_name(const TensorHeader& scales, const ByName& tensors) {
  const TensorHeader* weight = companion(tensors, scales.name, ".weight");
  if (weight == nullptr || weight->shape.empty() || scales.shape.empty() || scales.shape.back() == 0) return "MLX NVFP4, MXFP4 or MXFP8";
  switch (weight->shape.back() / scales.shape.back()) {
    case 2:
      return "MLX NVFP4";
    case 4:
      return "MLX MXFP4";
    case 8:
      return "MLX MXFP8";
    default:
      return "an MLX floating mode";
  }
}

/// The format that this one tensor shows, if it is foreign.
std::optional<std::string> foreign_format_of(const TensorHeader& tensor, const ByName& tensors) {
  const std::string_view name = tensor.name;
  if (contains_any(name, {".lora_A", ".lora_B", "lora_embedding_"})) return "a LoRA adapter, which must be merged into its base model first";
  if (ends_with_any(name, {".qweight"})) return companion(tensors, name, ".g_idx") != nullptr ? "GPTQ" : "GPTQ or AWQ";
  if (ends_with_any(name, {".qzeros", ".g_idx"})) return "GPTQ or AWQ";
  if (contains_any(name, {".absmax", ".quant_map", ".quant_state.", ".SCB"})) return "bitsandbytes";
  if (name.ends_with(".weight_packed")) return packed_name(tensor, tensors);
  if (name.ends_with(".scales") && tensor.type == StoredType::u8) return mlx_mode_name(tensor, tensors);
  if (ends_with_any(name, {".weight_scale", ".weight_scale_inv"})) {
    const TensorHeader* weight = companion(tensors, name, ".weight");
    if (weight != nullptr) return weight->type == StoredType::i8 ? "INT8 (compressed-tensors)" : "FP8";
  }
  if (is_f8(tensor.type)) return "FP8";
  return std::nullopt;
}

}  // namespace

void refuse_foreign_formats(const std::vector<TensorHeader>& tensors, const std::string& where) {
  ByName by_name;
  by_name.reserve(tensors.size());
  for (const TensorHeader& tensor : tensors) by_name.emplace(tensor.name, &tensor);
  for (const TensorHeader& tensor : tensors) {
    if (is_ignorable(tensor.name)) continue;
    if (const auto format = foreign_format_of(tensor, by_name)) {
      fail(ErrorKind::unsupported, "{}: `{}` ({}) shows that this is {}; Lagoon runs BF16, F16, F32 and MLX affine checkpoints", where,
           printable(tensor.name), name_of(tensor.type), *format);
    }
    const std::string_view name = tensor.name;
    if (name.starts_with("mtp.") || contains_any(name, {".mtp.", ".nextn.", ".shared_head."})) {
      fail(ErrorKind::unsupported, "{}: `{}` belongs to multi-token prediction, which Lagoon does not run; use a checkpoint without it", where,
           printable(name));
    }
    if (name.starts_with("aux_hidden_norms.") || name == "hidden_norm.weight") {
      fail(ErrorKind::unsupported, "{}: `{}` belongs to a draft model (DFlash), which cannot speak alone; give the Laguna model that it belongs to",
           where, printable(name));
    }
  }
}

}  // namespace lagoon
