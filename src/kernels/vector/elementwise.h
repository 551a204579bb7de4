// elementwise.h: the functions of kernel_set.h that go element by element, over 16 lanes. Lanes is a type in an unnamed
// namespace (lanes.h of a set), so that every instance stays inside its unit. The mathematics repeats canonical_math.h operation
// by operation; constants and comments are there.
#pragma once

#include "kernels/vector/parts.h"

#include <cstdint>

namespace lagoon::vector {

/// canonical_exp. A NaN passes through the arithmetic.
template <class Lanes>
[[gnu::always_inline]] inline Lanes exponential(Lanes x) {
  const Lanes round_shift = Lanes::all(12582912.0f);
  const Lanes n = fma(x, Lanes::all(1.44269504f), round_shift) - round_shift;
  Lanes r = fma(n, Lanes::all(-0.693145752f), x);
  r = fma(n, Lanes::all(-1.42860682e-6f), r);
  Lanes p = Lanes::all(1.98412698e-4f);
  p = fma(p, r, Lanes::all(1.38888889e-3f));
  p = fma(p, r, Lanes::all(8.33333333e-3f));
  p = fma(p, r, Lanes::all(4.16666667e-2f));
  p = fma(p, r, Lanes::all(1.66666667e-1f));
  p = fma(p, r, Lanes::all(0.5f));
  p = fma(p, r, Lanes::all(1.0f));
  p = fma(p, r, Lanes::all(1.0f));
  p = times_power_of_two(p, n);
  p = select(less(x, Lanes::all(-87.3f)), Lanes::zero(), p);
  return select(less(Lanes::all(88.7f), x), Lanes::all(__builtin_inff()), p);
}

/// canonical_sigmoid.
template <class Lanes>
[[gnu::always_inline]] inline Lanes sigmoid(Lanes x) {
  return Lanes::all(1.0f) / (Lanes::all(1.0f) + exponential(negative(x)));
}

/// canonical_silu.
template <class Lanes>
[[gnu::always_inline]] inline Lanes silu(Lanes x) {
  return x * sigmoid(x);
}

/// canonical_softplus.
template <class Lanes>
[[gnu::always_inline]] inline Lanes softplus(Lanes x) {
  const Lanes u = exponential(negative(absolute(x)));
  const Lanes s = u / (Lanes::all(2.0f) + u);
  const Lanes q = s * s;
  Lanes p = Lanes::all(1.0f / 15.0f);
  p = fma(p, q, Lanes::all(1.0f / 13.0f));
  p = fma(p, q, Lanes::all(1.0f / 11.0f));
  p = fma(p, q, Lanes::all(1.0f / 9.0f));
  p = fma(p, q, Lanes::all(1.0f / 7.0f));
  p = fma(p, q, Lanes::all(1.0f / 5.0f));
  p = fma(p, q, Lanes::all(1.0f / 3.0f));
  p = fma(p, q, Lanes::all(1.0f));
  const Lanes positive = select(less(Lanes::zero(), x), x, Lanes::zero());
  const Lanes sum = positive + Lanes::all(2.0f) * s * p;
  return select(is_nan(x), x, select(less(Lanes::all(20.0f), x), x, sum));
}

/// canonical_tanh.
template <class Lanes>
[[gnu::always_inline]] inline Lanes hyperbolic_tangent(Lanes x) {
  const Lanes one = Lanes::all(1.0f);
  const Lanes two = Lanes::all(2.0f);
  const Lanes magnitude = one - two / (exponential(two * absolute(x)) + one);
  return select(less(x, Lanes::zero()), negative(magnitude), magnitude);
}

/// a * b + lanes where the part has lanes, else the lanes as they are.
template <class Lanes>
Lanes add_product(Lanes a, Lanes b, Lanes sum, Whole /*part*/) {
  return fma(a, b, sum);
}
template <class Lanes>
Lanes add_product(Lanes a, Lanes b, Lanes sum, First part) {
  return select(Lanes::range(0, part.count), fma(a, b, sum), sum);
}

template <class Lanes>
void rms_norm(const float* x, const float* weight, int64_t count, float epsilon, float* y) {
  Lanes sums = Lanes::zero();
  over(count, [&](int64_t at, auto part) {
    const Lanes value = Lanes::load(x + at, part);
    sums = add_product(value, value, sums, part);
  });
  const float mean = reduce(sums) / static_cast<float>(count);
  const Lanes factor = Lanes::all(1.0f) / square_root(Lanes::all(mean + epsilon));
  over(count, [&](int64_t at, auto part) { (Lanes::load(x + at, part) * factor * Lanes::load(weight + at, part)).store(y + at, part); });
}

template <class Lanes>
void rotate(float* x, const float* cos, const float* sin, int64_t pairs) {
  over(pairs, [&](int64_t at, auto part) {
    const Lanes a = Lanes::load(x + at, part);
    const Lanes b = Lanes::load(x + at + pairs, part);
    const Lanes c = Lanes::load(cos + at, part);
    const Lanes s = Lanes::load(sin + at, part);
    (a * c - b * s).store(x + at, part);
    (b * c + a * s).store(x + at + pairs, part);
  });
}

template <class Lanes>
void silu_multiply(float* gate, const float* up, int64_t count) {
  over(count, [&](int64_t at, auto part) { (silu(Lanes::load(gate + at, part)) * Lanes::load(up + at, part)).store(gate + at, part); });
}

template <class Lanes>
void gate_head(float gate, float* x, int64_t count) {
  const Lanes factor = softplus(Lanes::all(gate));
  over(count, [&](int64_t at, auto part) { (Lanes::load(x + at, part) * factor).store(x + at, part); });
}

template <class Lanes>
void gate_elements(const float* gate, float* x, int64_t count) {
  over(count, [&](int64_t at, auto part) { (Lanes::load(x + at, part) * softplus(Lanes::load(gate + at, part))).store(x + at, part); });
}

template <class Lanes>
void router_scores(float* scores, int64_t count, float cap) {
  const Lanes limit = Lanes::all(cap);
  over(count, [&](int64_t at, auto part) {
    Lanes logit = Lanes::load(scores + at, part);
    if (cap > 0.0f) logit = limit * hyperbolic_tangent(logit / limit);
    sigmoid(logit).store(scores + at, part);
  });
}

template <class Lanes>
void add_scaled(float factor, const float* x, float* y, int64_t count) {
  const Lanes factors = Lanes::all(factor);
  over(count, [&](int64_t at, auto part) { fma(factors, Lanes::load(x + at, part), Lanes::load(y + at, part)).store(y + at, part); });
}

template <class Lanes>
void add(const float* x, float* y, int64_t count) {
  over(count, [&](int64_t at, auto part) { (Lanes::load(y + at, part) + Lanes::load(x + at, part)).store(y + at, part); });
}

template <class Lanes>
void scale(float factor, float* y, int64_t count) {
  const Lanes factors = Lanes::all(factor);
  over(count, [&](int64_t at, auto part) { (Lanes::load(y + at, part) * factors).store(y + at, part); });
}

}  // namespace lagoon::vector
