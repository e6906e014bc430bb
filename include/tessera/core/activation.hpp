// The activation functions of an epilogue. For f32 these are chains of fused multiply-adds that
// are written out here, so that a compiler makes vectors of them and every machine gets the same
// bits; f64 calls the C library, whose last bit may differ between machines.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "tessera/core/config.hpp"

namespace tessera {

/// Applied in the accumulator's type, before the result is rounded. NaN stays NaN; the infinities
/// give the limits.
enum class Activation : std::uint8_t {
  none,
  relu,  ///< max(x, 0)
  gelu,  ///< x Phi(x) = x/2 (1 + erf(x / sqrt 2)): Hendrycks & Gimpel, "Gaussian Error Linear
         ///< Units", arXiv 1606.08415
  silu   ///< x / (1 + exp(-x))
};

namespace detail {

TESSERA_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/// exp(x), off by less than 2 units in the last place where the result is normal. x = n ln 2 + r
/// with |r| <= ln 2 / 2: a polynomial in r of degree 6 (interpolated at Chebyshev nodes, relative
/// error 3e-9), times 2^n in two steps.
TESSERA_INLINE float exp_f32(float x) {
  x = x < -104.f ? -104.f : x;         // below: 0
  x = x > 89.f ? 89.f : x;             // above: infinity
  constexpr float magic = 12582912.f;  // 1.5 * 2^23: its last bits become the integer n
  const float shifted = fused(x, 1.442695022f, magic), n = shifted - magic;
  const float r = fused(n, -1.428606765e-06f, fused(n, -0.6931457520f, x));
  float p = 0.001394215971f;
  p = fused(p, r, 0.008375967853f);
  p = fused(p, r, 0.04166634008f);
  p = fused(p, r, 0.1666640490f);
  p = fused(p, r, 0.5f);
  p = fused(p, r, 1.f);
  p = fused(p, r, 1.f);
  const auto whole =
      __builtin_bit_cast(std::int32_t, shifted) - __builtin_bit_cast(std::int32_t, magic);
  const std::int32_t half = whole >> 1;
  const auto power = [](std::int32_t e) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(e + 127) << 23);
  };
  return p * power(half) * power(whole - half);
}

/// (1 - Phi(x)) for 0 <= x, Phi the normal distribution: t P(t) exp(-x^2 / 2) with
/// t = 1 / (1 + 0.3 x), P interpolated at Chebyshev nodes for 0 <= x <= 20, relative error 2e-8.
TESSERA_INLINE float normal_tail_f32(float x) {
  const float t = 1.f / fused(0.3f, x, 1.f);
  float p = -0.02085525170f;
  p = fused(p, t, 0.1135909259f);
  p = fused(p, t, -0.2306604981f);
  p = fused(p, t, 0.1946525574f);
  p = fused(p, t, -0.08145296574f);
  p = fused(p, t, 0.09704340994f);
  p = fused(p, t, 0.07815551758f);
  p = fused(p, t, 0.1102702022f);
  p = fused(p, t, 0.1195693761f);
  p = fused(p, t, 0.1196867377f);
  const float half = 0.5f * x, square = half * x;  // and what the square has lost:
  const float lost = fused(half, x, -square);
  const float e = exp_f32(-square);
  return t * p * fused(-lost, e, e);
}

TESSERA_INLINE float gelu(float x) {
  float size = x < 0.f ? -x : x;
  size = size > 20.f ? 20.f : size;
  const float off = size * normal_tail_f32(size);
  return x < 0.f ? -off : x - off;
}
TESSERA_INLINE float silu(float x) {
  x = x < -200.f ? -200.f : x;
  const float e = exp_f32(x < 0.f ? x : -x);
  return (x < 0.f ? x * e : x) / (1.f + e);
}
/// erfc is so steep that rounding x / sqrt 2 alone would cost 800 units in the last place at -37.
/// This corrects for that rounding; -2 z erfc(z) approximates the derivative of erfc there.
TESSERA_INLINE double gelu(double x) {
  constexpr double high = -0.70710678118654752440, low = 4.833646656726457e-17;
  x = x < -40. ? -40. : x;
  const double z = x * high;
  const double half = x * 0.5, e = __builtin_erfc(z);
  if (!(z > 1.)) return half * e;
  const double lost = __builtin_fma(x, high, -z) + x * low;
  return half * (e * (1. - 2. * z * lost));
}
TESSERA_INLINE double silu(double x) {
  x = x < -800. ? -800. : x;
  const double e = __builtin_exp(x < 0. ? x : -x);
  return (x < 0. ? x * e : x) / (1. + e);
}

}  // namespace detail

/// The clamp limits that leave every value alone.
template <class T>
inline constexpr T kLeast = std::numeric_limits<T>::has_infinity
                                ? -std::numeric_limits<T>::infinity()
                                : std::numeric_limits<T>::min();
template <class T>
inline constexpr T kMost = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                : std::numeric_limits<T>::max();

/// An activation, then a clamp to [low, high]. NaN stays NaN.
template <class T>
struct LastStep {
  Activation activation = Activation::none;
  T low = kLeast<T>, high = kMost<T>;

  TESSERA_HD constexpr bool changes_nothing() const {
    return activation == Activation::none && low == kLeast<T> && high == kMost<T>;
  }
};

template <class T>
TESSERA_INLINE T clamp(T x, T low, T high) {
  x = x < low ? low : x;
  return high < x ? high : x;
}
template <class T>
TESSERA_INLINE T activate(Activation activation, T x) {
  if (activation == Activation::relu) return x < T{0} ? T{0} : x;
  if constexpr (!std::is_integral_v<T>) {
    if (activation == Activation::gelu) return detail::gelu(x);
    if (activation == Activation::silu) return detail::silu(x);
  }
  return x;
}

}  // namespace tessera
