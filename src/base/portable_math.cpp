#include "base/portable_math.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace lagoon {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double ln_2 = 0.69314718055994530942;

}  // namespace

double exponential(double x) {
  if (std::isnan(x)) return x;
  if (x < -700.0) return 0.0;
  if (x > 709.0) return std::numeric_limits<double>::infinity();
  // e^x = 2^n e^r, |r| <= ln 2 / 2; ln 2 in two parts, the first with so few bits that n times it is exact.
  const double n = std::nearbyint(x / ln_2);
  const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  double p = 1.0;  // Taylor to the 13th power, from the inside
  for (int k = 13; k >= 1; --k) p = 1.0 + p * (r / k);
  return std::ldexp(p, static_cast<int>(n));
}

double natural_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // x = mantissa * 2^exponent, mantissa in [0.5, 1)
  if (mantissa < 0.70710678118654752440) {
    mantissa *= 2;
    --exponent;
  }
  // ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172
  const double s = (mantissa - 1) / (mantissa + 1);
  const double q = s * s;
  double sum = 0.0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * q + 1.0 / n;
  return 2 * s * sum + exponent * ln_2;
}

SineCosine sine_cosine(double angle) {
  // pi / 2 in three parts; the first two have so few bits that their products with the quadrant are exact.
  constexpr double part_1 = 1.57079632673412561417e+00;
  constexpr double part_2 = 6.07710050630396597660e-11;
  constexpr double part_3 = 2.02226624879595063154e-21;
  const double quadrant = std::nearbyint(angle * (2 / pi));
  const double r = ((angle - quadrant * part_1) - quadrant * part_2) - quadrant * part_3;
  const double q = r * r;
  double sine = 0.0;    // Taylor: r (1 - q/3! + q^2/5! ...)
  double cosine = 0.0;  // 1 - q/2! + q^2/4! ...
  for (int n = 16; n >= 2; n -= 2) {
    sine = (1.0 - sine) * q / (n * (n + 1.0));
    cosine = (1.0 - cosine) * q / (n * (n - 1.0));
  }
  sine = r * (1.0 - sine);
  cosine = 1.0 - cosine;
  switch (static_cast<int64_t>(quadrant) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

}  // namespace lagoon
