// format_map.h: which matrix of a checkpoint has which format, where there are no headers to read: a uniform one, what a file with
// rules says (data/artifacts), or what the quantization block of a config.json says.
#pragma once

#include "base/json.h"
#include "checkpoint/affine_format.h"
#include "checkpoint/tensor_names.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lagoon {

class QuantizationConfig;

class FormatMap {
 public:
  using Format = std::optional<AffineFormat>;  // nullopt is BF16

  /// "bf16", or "4/64": BITS/GROUP of MLX affine for every matrix, with routers in 8/64 as mlx-lm converts. @return nullopt for another text
  static std::optional<FormatMap> uniform(std::string_view name);

  /// The "formats" of a file of data/artifacts:
  ///   {"default": "4/128", "prefix": "language_model.", "expert_bias": "F32",
  ///    "rules": [{"parts": ["attention"], "layers": "2,8,16-30", "format": "8/64"}, ...]}
  /// A later rule wins over an earlier one; a rule without "layers" holds for all. Parts: embedding, head, router, attention and attention.query,
  /// .key, .value, .gate, .output; dense, shared and experts, each also with .gate, .up or .down behind it.
  /// @throws Error(corrupt) naming the key, what was found and what was needed
  static FormatMap read(const Json& formats, const std::string& what);

  /// What a config.json says. Matrices that it does not list have its default, but routers are BF16: whoever quantizes them lists them.
  /// @throws Error(invalid) if an entry leaves bits or group open
  static FormatMap of(const QuantizationConfig& quantization);

  /// Of matrices; vectors are never quantized.
  Format of(const ModulePath& path) const;

  /// What config.json says of matrices without an entry of their own; nullopt: nothing is quantized.
  Format everywhere() const { return default_; }

  /// How names begin: oQ exports wrap the model.
  const std::string& prefix() const { return prefix_; }

  /// Whether matrices differ in format beyond routers.
  bool is_mixed() const { return rules_.size() > 1; }

  /// Whether the experts' bias is stored in BF16 instead of F32.
  bool half_expert_bias() const { return half_expert_bias_; }

 private:
  struct Rule {
    std::vector<Module> modules;
    std::vector<bool> layers;  // empty: all
    Format format;
    bool holds(const ModulePath& path) const;
  };

  static Rule read_rule(const Json& rule, const std::string& what, size_t number);

  Format default_;
  std::vector<Rule> rules_;
  std::unordered_map<uint64_t, Format> entries_;  // by ModulePath::key(); they win
  std::string prefix_;
  bool half_expert_bias_ = false;
};

}  // namespace lagoon
