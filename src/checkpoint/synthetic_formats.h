// synthetic_formats.h: which matrix of a synthetic checkpoint has which format: uniform ones, and the bit maps of mixed
// checkpoints that are published.
#pragma once

#include "checkpoint/affine_format.h"
#include "checkpoint/tensor_names.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lagoon {

class FormatMap {
 public:
  /// @return nullopt if no format has this name
  static std::optional<FormatMap> find(std::string_view name);

  /// Of matrices; nullopt is BF16. Vectors are never quantized.
  std::optional<AffineFormat> of(const ModulePath& path) const { return rule_(default_, path); }

  /// What config.json says of matrices without an entry of their own; nullopt: nothing is quantized.
  std::optional<AffineFormat> everywhere() const { return default_; }

  /// The model whose map this is; empty: it fits every model.
  std::string_view model() const { return model_; }

  /// How names begin: oQ exports wrap the model.
  std::string_view prefix() const { return model_.empty() ? "" : "language_model."; }

 private:
  using Rule = std::optional<AffineFormat> (*)(std::optional<AffineFormat> everywhere, const ModulePath& path);

  std::optional<AffineFormat> default_;
  std::string_view model_;
  Rule rule_ = nullptr;
};

/// Names of the published maps.
std::vector<std::string> mixed_format_names();

}  // namespace lagoon
