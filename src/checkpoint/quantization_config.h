// quantization_config.h: what config.json says about quantization. The headers decide how a tensor is read; this is what they
// are checked against, and where formats that Lagoon does not run name themselves.
//   "quantization" (and the same once more as "quantization_config"), as MLX writes it:
//     {"group_size": 128, "bits": 2, "mode": "affine", "model.layers.0.self_attn.q_proj": {"bits": 5, "group_size": 64}, "lm_head": false}
// A path may be spelled as any tensor may (tensor_names.h); an entry without "mode" is affine, whatever the top says.
#pragma once

#include "base/json.h"
#include "checkpoint/affine_format.h"
#include "checkpoint/tensor_names.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lagoon {

class ConfigReader;

/// What is said about one module, or about all that have no entry of their own.
struct StatedFormat {
  bool quantized = true;    // false: the entry is `false`
  std::optional<int> bits;  // nullopt: not said
  std::optional<int> group;
  std::string path;  // the entry's key as written; empty for the top
};

class QuantizationConfig {
 public:
  /// @param document  config.json; what stands in its "text_config" counts where the top says nothing
  /// @throws Error(unsupported) naming GPTQ, AWQ, NVFP4 and the like; Error(corrupt) for wrong types, two spellings of a path that say
  /// different things, and a "quantization" that differs from "quantization_config"
  static QuantizationConfig read(const Json& document, std::string_view what);

  /// The entry for this very path; nullptr if there is none.
  const StatedFormat* entry(const ModulePath& path) const;

  /// All entries, by ModulePath::key().
  const std::unordered_map<uint64_t, StatedFormat>& entries() const { return entries_; }

  /// What holds for quantized tensors without an entry; nullptr if config.json says nothing.
  const StatedFormat* everywhere() const { return everywhere_ ? &*everywhere_ : nullptr; }

 private:
  static QuantizationConfig read_block(const ConfigReader& block);
  bool says_the_same(const QuantizationConfig& other) const;

  std::optional<StatedFormat> everywhere_;
  std::unordered_map<uint64_t, StatedFormat> entries_;  // by ModulePath::key()
};

/// "5-bit in groups of 64", for sentences; says so where a part is not stated.
std::string describe(const StatedFormat& stated);

}  // namespace lagoon
