#include "checkpoint/checkpoint.h"

#include "base/error.h"
#include "base/impostor.h"
#include "base/json.h"
#include "checkpoint/foreign_formats.h"
#include "checkpoint/quantization_config.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor_names.h"
#include "checkpoint/weight_assembly.h"
#include "checkpoint/weight_files.h"
#include "machine/file.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace lagoon {
namespace {

constexpr uint64_t config_limit = 4 << 20;

Json read_config(const Files& files, const std::filesystem::path& path, const std::string& what) {
  const std::string text = read_text(files, path, config_limit);
  refuse_impostor(text, what, "the configuration of a model");
  return parse_json(text, what);
}

/// Puts the model_type where the one that counts stands. @return what stood there, for people; empty if it is the same
std::string override_model_type(Json& document, const std::string& type) {
  if (!document.is_object()) return {};
  const auto envelope = document.find("text_config");
  Json& config = envelope != document.end() && envelope->is_object() ? *envelope : document;
  std::string stated;
  for (const Json* object : {&config, &document}) {
    const auto at = object->find("model_type");
    if (!stated.empty() || at == object->end() || at->is_null()) continue;
    stated = at->is_string() ? at->get<std::string>() : at->dump();
  }
  const bool same = stated == type;
  config["model_type"] = type;
  if (type == "laguna") config["architectures"] = Json::array({"LagunaForCausalLM"});
  if (same) return {};
  return stated.empty() ? "no model_type" : "model_type `" + printable(stated) + "`";
}

}  // namespace

Checkpoint Checkpoint::open(const std::string& model, const CheckpointPlaces& places, const Files& files) {
  return open(find_model(model, places), files);
}

Checkpoint Checkpoint::open(const ModelLocation& location, const Files& files) {
  check_folder(location.folder);
  const std::filesystem::path path = location.folder / "config.json";
  const std::string what = printable_path(path);
  Json document = read_config(files, path, what);
  const std::string overridden = location.model_type ? override_model_type(document, *location.model_type) : std::string();
  // Before the headers: a foreign format names itself here best.
  ModelConfig config = read_model_config(document, what);
  const QuantizationConfig quantization = QuantizationConfig::read(document, what);
  Checkpoint checkpoint = assemble(location.folder, document, std::move(config), quantization, open_weight_files(location.folder, files));
  checkpoint.location_ = location;
  checkpoint.overridden_ = overridden;
  return checkpoint;
}

Checkpoint Checkpoint::assemble(const std::filesystem::path& folder, const Json& config, WeightFiles weights) {
  const std::string what = printable_path(folder / "config.json");
  return assemble(folder, config, read_model_config(config, what), QuantizationConfig::read(config, what), std::move(weights));
}

Checkpoint Checkpoint::assemble(const std::filesystem::path& folder, const Json& document, ModelConfig config, const QuantizationConfig& quantization,
                                WeightFiles weights) {
  const std::string where = printable_path(folder);
  refuse_foreign_formats(weights.tensors, where);
  AssembledWeights assembled = assemble_weights(config, quantization, weights, where);
  for (size_t layer = 0; layer < assembled.gates.size(); ++layer) config.layers[layer].gate = assembled.gates[layer];
  Checkpoint checkpoint;
  checkpoint.location_ = {.folder = folder, .name = folder.string()};
  checkpoint.document_ = std::make_shared<const Json>(document);
  checkpoint.config_ = std::move(config);
  checkpoint.embedding_ = std::move(assembled.embedding);
  checkpoint.final_norm_ = std::move(assembled.final_norm);
  checkpoint.head_ = std::move(assembled.head);
  checkpoint.layers_ = std::move(assembled.layers);
  for (const TensorHeader& tensor : weights.tensors) {
    if (is_ignorable(tensor.name)) checkpoint.unused_tensors_.push_back(tensor.name);
  }
  checkpoint.weight_bytes_ = assembled.bytes;
  checkpoint.files_ = std::move(weights.files);
  return checkpoint;
}

}  // namespace lagoon
