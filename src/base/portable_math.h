// portable_math.h: elementary functions in double made of IEEE additions, multiplications and divisions alone, so that every
// machine and every C library gives the same bits. For the few numbers that are not a kernel's: rotary frequencies and
// angles, and the probabilities of the sampler. (Kernels use kernels/canonical_math.h.)
#pragma once

namespace lagoon {

/// e^x, relative error below 1e-14; 0 below -700, infinity above 709, NaN for NaN.
double exponential(double x);

/// Natural logarithm of a positive finite number, relative error below 1e-15.
double natural_log(double x);

/// Sine and cosine of a finite angle in radians, |angle| < 2^30, absolute error below 1e-12.
struct SineCosine {
  double sine;
  double cosine;
};
SineCosine sine_cosine(double angle);

}  // namespace lagoon
