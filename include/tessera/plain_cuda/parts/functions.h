// CUDA's mathematical functions that the C library does not have: CUDA Math API, "Single Precision
// Mathematical Functions" and "Double Precision Mathematical Functions".
#pragma once

#include <cmath>

#include "place.h"

namespace tessera::plain_cuda {

/// The x below 0 that a normal variable undershoots with probability p <= 1/2: Newton's method on
/// the logarithm, which is concave, so that every step from below stays below.
inline double normal_quantile(double p) {
  const double wanted = std::log(p);
  double x = std::fmax(-std::sqrt(-2 * wanted), -38.0);
  for (int i = 0; i < 100; ++i) {
    const double below = 0.5 * std::erfc(-x * M_SQRT1_2);
    const double density = std::exp(-0.5 * x * x) * 0.39894228040143267794;
    const double step = (wanted - std::log(below)) * (below / density);
    x += step;
    if (std::fabs(step) <= 1e-15 * std::fabs(x)) break;
  }
  return x;
}

}  // namespace tessera::plain_cuda

inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
inline double rhypot(double x, double y) { return 1.0 / std::hypot(x, y); }
inline double norm3d(double x, double y, double z) { return std::hypot(x, y, z); }
inline double norm4d(double x, double y, double z, double w) {
  return std::hypot(std::hypot(x, y), std::hypot(z, w));
}
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
TESSERA_AT_CALL double norm(int dim, const double* p) {
  double out = 0;
  for (int i = 0; i < dim; ++i) out = std::hypot(out, p[i]);
  return out;
}
TESSERA_AT_CALL float normf(int dim, const float* p) {
  double out = 0;
  for (int i = 0; i < dim; ++i) out = std::hypot(out, static_cast<double>(p[i]));
  return static_cast<float>(out);
}
TESSERA_AT_CALL double rnorm(int dim, const double* p) { return 1.0 / norm(dim, p); }
TESSERA_AT_CALL float rnormf(int dim, const float* p) { return 1.0f / normf(dim, p); }
/// Of multiples of 1/2 they are exact.
inline double sinpi(double x) {
  const double r = std::remainder(x, 2.0);  // -1 to 1
  return std::sin(M_PI * (std::fabs(r) > 0.5 ? std::copysign(1.0, r) - r : r));
}
inline double cospi(double x) { return std::sin(M_PI * (0.5 - std::fabs(std::remainder(x, 2.0)))); }
TESSERA_AT_CALL void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
TESSERA_AT_CALL void sincospif(float x, float* s, float* c) {
  *s = static_cast<float>(sinpi(x)), *c = static_cast<float>(cospi(x));
}
TESSERA_AT_CALL void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }
inline double normcdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
inline double normcdfinv(double p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
  return p <= 0.5 ? tessera::plain_cuda::normal_quantile(p)
                  : -tessera::plain_cuda::normal_quantile(1 - p);
}
inline double erfcinv(double y) { return -normcdfinv(0.5 * y) * M_SQRT1_2; }
inline double erfinv(double y) {
  if (std::fabs(y) >= 0.5) return std::copysign(erfcinv(1 - std::fabs(y)), y);
  double x = y * (0.5 / M_2_SQRTPI * M_PI);
  for (int i = 0; i < 8; ++i) x -= (std::erf(x) - y) / (M_2_SQRTPI * std::exp(-x * x));
  return x;
}
/// exp(x * x) * erfc(x): where erfc(x) underflows, by its asymptotic series.
inline double erfcx(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const double r = 0.5 / (x * x);
  return M_2_SQRTPI * 0.5 / x * (1 - r * (1 - 3 * r * (1 - 5 * r)));
}
inline double cyl_bessel_i0(double x) { return std::cyl_bessel_i(0.0, std::fabs(x)); }
inline double cyl_bessel_i1(double x) {
  return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x);
}
inline float fdividef(float x, float y) { return x / y; }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }

// ---- in single precision, under both names ----
#define TESSERA_SINGLE(name)                                                    \
  inline float name##f(float x) { return static_cast<float>(name(double{x})); } \
  inline float name(float x) { return name##f(x); }
TESSERA_SINGLE(rcbrt)
TESSERA_SINGLE(sinpi)
TESSERA_SINGLE(cospi)
TESSERA_SINGLE(normcdf)
TESSERA_SINGLE(normcdfinv)
TESSERA_SINGLE(erfinv)
TESSERA_SINGLE(erfcinv)
TESSERA_SINGLE(erfcx)
TESSERA_SINGLE(cyl_bessel_i0)
TESSERA_SINGLE(cyl_bessel_i1)
#undef TESSERA_SINGLE
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rhypotf(float x, float y) { return static_cast<float>(rhypot(double{x}, double{y})); }
inline float rhypot(float x, float y) { return rhypotf(x, y); }
inline float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
inline float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
inline float norm4df(float x, float y, float z, float w) {
  return static_cast<float>(norm4d(x, y, z, w));
}
inline float rnorm4df(float x, float y, float z, float w) {
  return static_cast<float>(rnorm4d(x, y, z, w));
}
