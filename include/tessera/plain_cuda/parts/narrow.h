// Floating-point formats narrower than float as bits: conversions from double, rounded once, and to
// float, which is exact. Sums, products, quotients and roots of two narrow numbers are computed in
// double, whose digits suffice that the second rounding changes nothing.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tessera::plain_cuda {

enum class Rounding { nearest, zero, up, down };

/// Bits of exponent and mantissa; `is_finite`: no infinity, and the last number is NaN.
struct NarrowFormat {
  int exponent, mantissa;
  bool is_finite = false;

  constexpr int bias() const { return (1 << (exponent - 1)) - 1; }
  constexpr std::uint32_t magnitudes() const { return (1u << (exponent + mantissa)) - 1; }
  constexpr std::uint32_t infinity() const { return ((1u << exponent) - 1) << mantissa; }
  constexpr std::uint32_t nan() const { return magnitudes(); }
  constexpr std::uint32_t largest() const { return is_finite ? magnitudes() - 1 : infinity() - 1; }
  constexpr std::uint32_t sign() const { return 1u << (exponent + mantissa); }
};
inline constexpr NarrowFormat kHalf{5, 10}, kBfloat16{8, 7}, kE4m3{4, 3, true}, kE5m2{5, 2};

/// Formats are passed by value: reads of a constant in memory would be recorded by the checker.
///
/// Beyond the largest number: infinity or, with `saturates` or without infinity, the largest.
constexpr std::uint32_t narrow_bits(NarrowFormat f, double value,
                                    Rounding rounding = Rounding::nearest, bool saturates = false) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const bool is_negative = bits >> 63 != 0;
  const std::uint32_t sign = is_negative ? f.sign() : 0;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  if (exponent == 1024 && fraction != 0) return f.nan();
  const std::uint32_t beyond = saturates ? f.largest() : f.is_finite ? f.nan() : f.infinity();
  if (exponent == 1024) return sign | beyond;
  const int lowest = 1 - f.bias();
  const std::uint64_t digits = exponent == -1023 ? fraction : fraction | std::uint64_t{1} << 52;
  int drop = 52 - f.mantissa;
  if (exponent < lowest) drop += lowest - exponent;
  if (drop > 62) drop = 62;
  const std::uint64_t kept = digits >> drop, rest = digits & ((std::uint64_t{1} << drop) - 1),
                      half = std::uint64_t{1} << (drop - 1);
  bool up = false;
  if (rounding == Rounding::nearest) up = rest > half || (rest == half && (kept & 1) != 0);
  else if (rounding != Rounding::zero)
    up = rest != 0 && (rounding == Rounding::down) == is_negative;
  std::uint64_t out = kept + (up ? 1 : 0);
  if (exponent >= lowest) out += static_cast<std::uint64_t>(exponent + f.bias() - 1) << f.mantissa;
  if (out <= f.largest()) return sign | static_cast<std::uint32_t>(out);
  const bool may_reach =
      rounding == Rounding::nearest ||
      (rounding != Rounding::zero && (rounding == Rounding::down) == is_negative);
  return sign | (may_reach ? beyond : f.largest());
}

constexpr float narrow_value(NarrowFormat f, std::uint32_t bits) {
  const std::uint32_t magnitude = bits & f.magnitudes();
  const std::uint32_t sign = (bits & f.sign()) != 0 ? 0x80000000u : 0;
  const bool is_special = f.is_finite ? magnitude == f.nan() : magnitude >= f.infinity();
  const int to_float = 23 - f.mantissa;
  if (is_special) {
    const std::uint32_t fraction = f.is_finite ? 0x7fffff : magnitude << to_float & 0x7fffff;
    return std::bit_cast<float>(sign | 0x7f800000u | fraction);
  }
  if (f.exponent == 8) return std::bit_cast<float>(sign | magnitude << to_float);
  // The exponent's bias is made a float's by a product, which treats subnormal numbers as well.
  const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(127 + 127 - f.bias()) << 23);
  return std::bit_cast<float>(magnitude << to_float | sign) * scale;
}

/// a * b + c of narrow numbers, so rounded that one more rounding gives the nearest narrow number.
inline double narrow_fma(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double back = sum - product;
  const double lost = (product - (sum - back)) + (c - back);
  if (lost == 0 || (std::bit_cast<std::uint64_t>(sum) & 1) != 0) return sum;
  return std::nextafter(sum, lost > 0 ? HUGE_VAL : -HUGE_VAL);
}

/// As a conversion to integers does it: rounded, NaN to 0, beyond the type to its ends.
template <class I>
constexpr I whole(double value, Rounding rounding = Rounding::zero) {
  if (value != value) return 0;
  const double wide = rounding == Rounding::zero   ? std::trunc(value)
                      : rounding == Rounding::up   ? std::ceil(value)
                      : rounding == Rounding::down ? std::floor(value)
                                                   : std::nearbyint(value);
  constexpr I lowest = std::numeric_limits<I>::min(), largest = std::numeric_limits<I>::max();
  if (wide <= static_cast<double>(lowest)) return lowest;
  if (wide >= static_cast<double>(largest)) return largest;
  return static_cast<I>(wide);
}

}  // namespace tessera::plain_cuda
