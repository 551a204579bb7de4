// rotary.h: rotary position embedding, plain and YaRN, on the front `dimensions` of each head.
//   angle(position, i) = position * w_i, cos and sin multiplied by the attention factor; pairs (i, i + dimensions / 2).
//   plain: w_i = theta^(-2i / d).  YaRN: w_i blends that with w_i / factor along a ramp (rotary.cpp).
// Only additions, multiplications and divisions are used, so that every machine gets the same angles.
// Source: transformers, modeling_rope_utils.py (_compute_default_rope_parameters, _compute_yarn_parameters); as there,
// frequencies and angles are fp32.
// Proof: tests/conformance/laguna/rotary_test.cpp.
#pragma once

#include "checkpoint/model_config.h"

#include <cstdint>
#include <vector>

namespace lagoon {

class Rotary {
 public:
  explicit Rotary(const RotaryConfig& config);

  /// dimensions / 2.
  int64_t pairs() const { return static_cast<int64_t>(frequencies_.size()); }
  const std::vector<float>& frequencies() const { return frequencies_; }

  /// @param cos, sin  [pairs]
  void angles(int64_t position, float* cos, float* sin) const;

 private:
  std::vector<float> frequencies_;  // [pairs] w_i
  float attention_factor_;
};

}  // namespace lagoon
