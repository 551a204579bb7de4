// router.h: which experts a token goes to, and with what weight.
//   s = sigmoid(z), chosen: the k largest of s + bias (equal sums: the lower id), weight_e = s_e / (sum of chosen s)
// The bias decides who is chosen and never the weight. The routed scale is applied to the sum of the experts (experts.cpp).
// Source: transformers, modeling_laguna.py, LagunaTopKRouter; reference values: tests/unit/laguna/router_test.cpp.
#pragma once

#include <cstdint>
#include <span>

namespace lagoon {

struct Route {
  int32_t expert = 0;
  float weight = 0.0f;
};

/// @param scores  [experts] after the sigmoid
/// @param bias    [experts]
/// @param routes  [experts per token]: filled in ascending expert id
void choose_experts(std::span<const float> scores, std::span<const float> bias, std::span<Route> routes);

}  // namespace lagoon
