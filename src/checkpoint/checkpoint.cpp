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
  Checkpoint checkpoint;
  checkpoint.folder_ = find_model_folder(model, places);
  const std::string where = printable(checkpoint.folder_.string(), 4096);
  check_folder(checkpoint.folder_);

  const std::filesystem::path path = checkpoint.folder_ / "config.json";
  const std::string what = printable(path.string(), 4096);
  const Json document = read_config(files, path, what);
  checkpoint.config_ = read_model_config(document, what);
  const QuantizationConfig quantization = QuantizationConfig::read(document, what);

  WeightFiles weights = open_weight_files(checkpoint.folder_, files);
  refuse_foreign_formats(weights.tensors, where);
  AssembledWeights assembled = assemble_weights(checkpoint.config_, quantization, weights, where);
  for (size_t layer = 0; layer < assembled.gates.size(); ++layer) checkpoint.config_.layers[layer].gate = assembled.gates[layer];
  checkpoint.embedding_ = std::move(assembled.embedding);
  checkpoint.final_norm_ = std::move(assembled.final_norm);
  checkpoint.head_ = std::move(assembled.head);
  checkpoint.layers_ = std::move(assembled.layers);
  checkpoint.weight_bytes_ = assembled.bytes;
  checkpoint.files_ = std::move(weights.files);
  return checkpoint;
}

}  // namespace lagoon
