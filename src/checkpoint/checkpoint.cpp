#include "checkpoint/checkpoint.h"

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/foreign_formats.h"
#include "checkpoint/quantization_config.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/weight_assembly.h"
#include "checkpoint/weight_files.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace lagoon {
namespace {

constexpr uint64_t config_limit = 4 << 20;

Json read_config(const Files& files, const std::filesystem::path& path, const std::string& what) {
  const std::string text = read_text(files, path, config_limit);
  if (const auto impostor = recognise_impostor(std::string_view(text).substr(0, 64))) {
    fail(ErrorKind::corrupt, "{}: this is {}, not the configuration of a model; fetch the file itself", what, *impostor);
  }
  return parse_json(text, what);
}

}  // namespace

Checkpoint Checkpoint::open(const std::string& model, const CheckpointPlaces& places, const Files& files) {
  const std::filesystem::path folder = find_model_folder(model, places);
  check_folder(folder);
  const std::filesystem::path path = folder / "config.json";
  const std::string what = printable(path.string(), 4096);
  const Json document = read_config(files, path, what);
  // Before the headers: a foreign format names itself here best.
  ModelConfig config = read_model_config(document, what);
  const QuantizationConfig quantization = QuantizationConfig::read(document, what);
  return assemble(folder, document, std::move(config), quantization, open_weight_files(folder, files));
}

Checkpoint Checkpoint::assemble(const std::filesystem::path& folder, const Json& config, WeightFiles weights) {
  const std::string what = printable((folder / "config.json").string(), 4096);
  return assemble(folder, config, read_model_config(config, what), QuantizationConfig::read(config, what), std::move(weights));
}

Checkpoint Checkpoint::assemble(const std::filesystem::path& folder, const Json& document, ModelConfig config,
                                const QuantizationConfig& quantization, WeightFiles weights) {
  const std::string where = printable(folder.string(), 4096);
  refuse_foreign_formats(weights.tensors, where);
  AssembledWeights assembled = assemble_weights(config, quantization, weights, where);
  for (size_t layer = 0; layer < assembled.gates.size(); ++layer) config.layers[layer].gate = assembled.gates[layer];
  Checkpoint checkpoint;
  checkpoint.folder_ = folder;
  checkpoint.document_ = std::make_shared<const Json>(document);
  checkpoint.config_ = std::move(config);
  checkpoint.embedding_ = std::move(assembled.embedding);
  checkpoint.final_norm_ = std::move(assembled.final_norm);
  checkpoint.head_ = std::move(assembled.head);
  checkpoint.layers_ = std::move(assembled.layers);
  checkpoint.weight_bytes_ = assembled.bytes;
  checkpoint.files_ = std::move(weights.files);
  return checkpoint;
}

}  // namespace lagoon
