// synthetic.h: checkpoints of the published shapes with random weights, made on demand and never held: each shard is a
// ReadableFile that computes the bytes it is asked for. Loading one goes the way of any other checkpoint, and writing one to a
// disk is copying its files.
//
//   MODEL:FORMAT[,layers=N][,seed=N]      xs-2.1:4/64    s-2.1:s-2.1-oq4e,layers=4    mini:bf16,seed=7
//
// The same seed gives the same bytes on every machine, and the first N layers of a model are those of the whole model.
#pragma once

#include "base/json.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/format_map.h"
#include "machine/file.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

struct SyntheticSpec {
  std::string model;   // xs.2, xs-2.1, s-2.1, m.1 (as published), mini (12 layers, 1024 wide)
  std::string format;  // bf16, BITS/GROUP (MLX affine), or the name of a published mixed map, such as s-2.1-oq4e
  int layers = 0;      // the first so many; 1 to all that the model has
  uint64_t seed = 0;
};

/// Without layers=N all layers of the model.
/// @throws Error(invalid) naming the part at fault and what is understood
SyntheticSpec parse_synthetic_spec(std::string_view text);

/// The spec in its shortest spelling, which parse_synthetic_spec() reads back.
std::string to_string(const SyntheticSpec& spec);

/// The format of each matrix. @pre the spec is one that parse_synthetic_spec() returns
FormatMap synthetic_formats(const SyntheticSpec& spec);

/// What parse_synthetic_spec() understands, for help texts: one line without a newline.
std::string synthetic_spec_help();

struct TextFile {
  std::string name;
  std::string text;
};

/// Immutable; any number of threads may use one at once. Holds headers alone: about 200 bytes for each tensor.
class SyntheticCheckpoint {
 public:
  /// @throws Error(invalid) as parse_synthetic_spec
  explicit SyntheticCheckpoint(const SyntheticSpec& spec);

  /// The same for any shape: what a checkpoint with this config.json and these formats would hold.
  /// @param what  the file, which begins the sentence of an error. @throws Error as read_model_config
  SyntheticCheckpoint(Json config, FormatMap formats, uint64_t seed, const std::string& what = "config.json");

  /// config.json, with the quantization block as MLX writes it.
  const Json& config() const { return config_; }

  /// The other files beside the shards: index, generation_config.json, and a stand-in tokenizer with chat template, in which each
  /// byte is a token and every id below the vocabulary's size has a text.
  std::vector<TextFile> texts() const;

  size_t shard_count() const { return shards_.size(); }

  /// Shard `at`, of at most 5 GB; its path is `folder` and the name that it has in the index.
  std::unique_ptr<ReadableFile> open_shard(size_t at, const std::filesystem::path& folder) const;

  /// Bytes of shard `at` that stand before its data.
  uint64_t header_bytes(size_t at) const;

  /// Of all shards, headers included.
  uint64_t file_bytes() const;

  /// Numbers of the unquantized model.
  uint64_t parameters() const { return parameters_; }

 private:
  struct Shard;
  class File;

  Json config_;
  FormatMap formats_;
  std::vector<std::shared_ptr<const Shard>> shards_;
  uint64_t parameters_ = 0;
};

/// A checkpoint to load from, whose weights are made as they are read. Its folder is the spec, and no such folder exists.
/// @throws Error(invalid) as parse_synthetic_spec
Checkpoint open_synthetic(const SyntheticSpec& spec);

/// A checkpoint that is known from its config.json and its formats alone, to look at and to plan for. @param folder  what it is called
Checkpoint open_described(const std::filesystem::path& folder, const Json& config, const FormatMap& formats);

}  // namespace lagoon
