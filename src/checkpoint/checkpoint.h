// checkpoint.h: a published Laguna checkpoint, opened by reading headers only. It answers what the architecture asks for
// ("the down projection of expert 7 in layer 3") with format, shape and the byte ranges where the numbers lie, whatever
// spelling, fusing or sharding the publisher chose.
#pragma once

#include "base/json.h"
#include "checkpoint/model_catalog.h"
#include "checkpoint/model_config.h"
#include "kernels/weight_format.h"
#include "machine/file.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lagoon {

class QuantizationConfig;
struct WeightFiles;

/// Where bytes lie: in file `file` of Checkpoint::files(), from byte `offset` on.
struct ByteRange {
  int file = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// One matrix or vector of the architecture. `rows` outputs, `columns` inputs; a vector has one row. Row-major.
struct WeightSource {
  std::string name;  // as the file spells it, without ".weight", with "[e]" or "[rows a:b]" where it is a part of a tensor
  WeightFormat format;
  int64_t rows = 0;
  int64_t columns = 0;
  ByteRange values;  // plain: rows * columns elements; affine: the codes, rows * columns * bits / 8 bytes
  ByteRange scales;  // affine: rows * columns / group elements
  ByteRange biases;  // affine: as scales

  uint64_t bytes() const { return values.bytes + scales.bytes + biases.bytes; }
  uint64_t elements() const { return static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns); }
};

struct MlpSource {
  WeightSource gate, up, down;
};

struct LayerSource {
  WeightSource attention_norm, mlp_norm;    // [hidden]
  WeightSource query, key, value;           // [heads * head_dim][hidden]
  WeightSource gate;                        // [heads or heads * head_dim][hidden]
  WeightSource output;                      // [hidden][heads * head_dim]
  WeightSource query_norm, key_norm;        // [head_dim]
  MlpSource mlp;                            // dense layers
  WeightSource router;                      // [experts][hidden], sparse layers from here on
  std::optional<WeightSource> expert_bias;  // [experts]; nullopt: zeros
  std::vector<MlpSource> experts;           // [experts]
  MlpSource shared_expert;
};

class Checkpoint {
 public:
  /// @param model  as find_model() takes it: a folder, `nano`, an alias, `org/name` or `org/name@revision`, or a short name
  /// @throws Error: invalid (nothing there; the sentence says where it was looked for), unsupported, corrupt, io
  static Checkpoint open(const std::string& model, const CheckpointPlaces& places, const Files& files);
  static Checkpoint open(const ModelLocation& location, const Files& files);

  /// The same from what is open already, for weights that stand in no folder.
  /// @param folder   begins the sentence of an error, and is what folder() returns
  /// @param config   config.json
  /// @param weights  as open_weight_files() or read_weight_headers() return them
  /// @throws Error: unsupported, corrupt
  static Checkpoint assemble(const std::filesystem::path& folder, const Json& config, WeightFiles weights);

  const std::filesystem::path& folder() const { return location_.folder; }
  /// By which name and where it was found.
  const ModelLocation& location() const { return location_; }
  const ModelConfig& config() const { return config_; }
  /// What is computed although config.json does not say it, and what it says that is not computed: a sentence each, for a warning.
  const std::vector<std::string>& assumptions() const { return config_.assumptions; }
  /// config.json as it was parsed, for whoever says where a value stands in it; with the model_type of location() where that has one.
  const Json& document() const { return *document_; }
  /// What config.json itself says where location().model_type took its place and differs: "model_type `llama`".
  const std::string& overridden() const { return overridden_; }
  const WeightSource& embedding() const { return embedding_; }    // [vocabulary][hidden]
  const WeightSource& final_norm() const { return final_norm_; }  // [hidden]
  const WeightSource& head() const { return head_; }              // [vocabulary][hidden]
  const LayerSource& layer(int at) const { return layers_[static_cast<size_t>(at)]; }

  /// The open shards that ByteRange::file counts.
  const std::vector<std::unique_ptr<ReadableFile>>& files() const { return files_; }

  /// Tensors of the files that no part of the model needs, such as scales of a quantized KV cache.
  const std::vector<std::string>& unused_tensors() const { return unused_tensors_; }

  /// Bytes of all weights, as stored.
  uint64_t weight_bytes() const { return weight_bytes_; }

 private:
  static Checkpoint assemble(const std::filesystem::path& folder, const Json& document, ModelConfig config, const QuantizationConfig& quantization,
                             WeightFiles weights);

  ModelLocation location_;
  std::string overridden_;
  std::shared_ptr<const Json> document_;
  ModelConfig config_;
  WeightSource embedding_, final_norm_, head_;
  std::vector<LayerSource> layers_;
  std::vector<std::unique_ptr<ReadableFile>> files_;
  std::vector<std::string> unused_tensors_;
  uint64_t weight_bytes_ = 0;
};

/// The folder that `model` names, found without opening weights: for tokenizer and template alone.
/// @throws as Checkpoint::open
std::filesystem::path find_model_folder(const std::string& model, const CheckpointPlaces& places);

}  // namespace lagoon
