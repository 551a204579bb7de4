// canonical_math.h: the floating-point arithmetic that every kernel set repeats operation by operation, so that all of them
// give the same bits (docs/architecture.md, rule 2). Only IEEE additions, multiplications, divisions, square roots and
// fused multiply-adds occur; nothing here calls the C library's exp or log, which differ between machines.
//
// Sums of floats have one order: 16 lanes, lane i takes elements i, i + 16, ... ascending, products enter by fused
// multiply-add; then the lanes are added pairwise at distance 8, 4, 2, 1 (reduce_lanes).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lagoon {

constexpr int lane_count = 16;

/// The fixed tree: ((l0 + l8) + (l4 + l12)) + ... @param lanes [16], overwritten
inline float reduce_lanes(float* lanes) {
  for (int half = lane_count / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

/// Adds a[i] * b[i] to lane i % 16. @param lanes  [16]. @pre the stretch begins at lane 0
inline void add_products(const float* a, const float* b, int64_t count, float* lanes) {
  int64_t at = 0;
  for (; at + lane_count <= count; at += lane_count) {
    for (int lane = 0; lane < lane_count; ++lane) lanes[lane] = std::fma(a[at + lane], b[at + lane], lanes[lane]);
  }
  for (int lane = 0; at + lane < count; ++lane) lanes[lane] = std::fma(a[at + lane], b[at + lane], lanes[lane]);
}

/// Sum of a[i] * b[i] in the canonical order.
inline float canonical_dot(const float* a, const float* b, int64_t count) {
  float lanes[lane_count] = {};
  add_products(a, b, count, lanes);
  return reduce_lanes(lanes);
}

/// Sum of a[i] in the canonical order.
inline float canonical_sum(const float* a, int64_t count) {
  float lanes[lane_count] = {};
  for (int64_t at = 0; at < count; ++at) lanes[at % lane_count] += a[at];
  return reduce_lanes(lanes);
}

/// e^x, relative error below 1.5e-7. x below -87.3 gives 0 (no subnormals), above 88.7 infinity; a NaN stays one.
/// e^x = 2^n * e^r with n = round(x / ln 2), |r| <= ln 2 / 2; ln 2 in two parts keeps r exact; Taylor to the 7th power.
inline float canonical_exp(float x) {
  if (std::isnan(x)) return x;
  if (x < -87.3f) return 0.0f;
  if (x > 88.7f) return std::numeric_limits<float>::infinity();
  constexpr float round_shift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, ties to even
  const float n = std::fma(x, 1.44269504f, round_shift) - round_shift;
  float r = std::fma(n, -0.693145752f, x);  // the upper bits of ln 2, so few that n * upper is exact
  r = std::fma(n, -1.42860682e-6f, r);      // the rest of ln 2
  float p = 1.98412698e-4f;                 // 1 / 7!
  p = std::fma(p, r, 1.38888889e-3f);
  p = std::fma(p, r, 8.33333333e-3f);
  p = std::fma(p, r, 4.16666667e-2f);
  p = std::fma(p, r, 1.66666667e-1f);
  p = std::fma(p, r, 0.5f);
  p = std::fma(p, r, 1.0f);
  p = std::fma(p, r, 1.0f);
  // 2^n in two factors, since 2^128 is no float although p * 2^128 can be one
  const auto whole = static_cast<int32_t>(n);
  const int32_t first = whole >> 1;
  const float power_first = std::bit_cast<float>(static_cast<uint32_t>(first + 127) << 23);
  const float power_second = std::bit_cast<float>(static_cast<uint32_t>(whole - first + 127) << 23);
  return p * power_first * power_second;
}

/// 1 / (1 + e^-x).
inline float canonical_sigmoid(float x) { return 1.0f / (1.0f + canonical_exp(-x)); }

/// x * sigmoid(x).
inline float canonical_silu(float x) { return x * canonical_sigmoid(x); }

/// ln(1 + e^x) = max(x, 0) + ln(1 + u), u = e^-|x|; for x > 20 it is x, as in PyTorch.
/// ln(1 + u) = 2 atanh(s) with s = u / (2 + u) <= 1/3: the odd series to the 15th power, relative error below 3e-7.
inline float canonical_softplus(float x) {
  if (x > 20.0f || std::isnan(x)) return x;
  const float u = canonical_exp(-std::fabs(x));
  const float s = u / (2.0f + u);
  const float q = s * s;
  float p = 1.0f / 15.0f;
  p = std::fma(p, q, 1.0f / 13.0f);
  p = std::fma(p, q, 1.0f / 11.0f);
  p = std::fma(p, q, 1.0f / 9.0f);
  p = std::fma(p, q, 1.0f / 7.0f);
  p = std::fma(p, q, 1.0f / 5.0f);
  p = std::fma(p, q, 1.0f / 3.0f);
  p = std::fma(p, q, 1.0f);
  return (x > 0.0f ? x : 0.0f) + 2.0f * s * p;
}

/// tanh(x) for the router's soft-cap: 1 - 2 / (e^2x + 1), odd.
inline float canonical_tanh(float x) {
  const float magnitude = 1.0f - 2.0f / (canonical_exp(2.0f * std::fabs(x)) + 1.0f);
  return x < 0.0f ? -magnitude : magnitude;
}

}  // namespace lagoon
