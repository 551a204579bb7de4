// tolerances.h: every tolerance of the conformance tests, with its reason. Rounding only: formulas have no tolerance.
#pragma once

namespace lagoon::testing_support {

/// Oracle precision against transformers and mlx-lm in fp32: they sum in other orders, and differ from each other by 2e-5.
constexpr double oracle_logits = 1e-4;
constexpr double oracle_logits_mlx = 2e-4;

/// A greedy choice whose two best logits are closer than this may fall either way in fp32.
constexpr double greedy_gap = 1e-3;

/// Default precision: rms error against the fp32 truth, as a share of what a bf16 run of the reference has.
constexpr double share_of_bf16_error = 0.5;

/// fp32 products of MLX weights against float64, as a share of the sum of |x w|.
constexpr double float_product = 1e-6;

/// Fixed-point products against float64: |x - s q| <= s / 2 with s = max|x| / 32512, so that each input is off by at most
/// max|x| / 65024 of its group; as a share of the sum over groups of max|x| * sum|w|.
constexpr double fixed_product = 1.0 / 65024;

/// transformers' sampler computes in fp32.
constexpr double probability = 1e-6;

}  // namespace lagoon::testing_support
