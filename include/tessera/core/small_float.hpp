// Floating-point types narrower than 32 bits, as bit patterns with correctly rounded conversions
// (to nearest, ties to even). Arithmetic happens in f32 after an exact, implicit widening; there
// are no narrow operators.
//
//   f16     IEEE 754 binary16: 5 exponent bits, 10 mantissa bits
//   bf16    the upper half of an f32: 8 and 7
//   f8e5m2  OCP 8-bit, IEEE-like: 5 and 2, with infinity
//   f8e4m3  OCP 8-bit: 4 and 3, no infinity; 0x7f is NaN, the largest value is 448
// Source of the 8-bit formats: Open Compute Project, "8-bit Floating Point Specification (OFP8)",
// section 5.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tessera/core/config.hpp"

#if defined(__CUDACC__)
// From libdevice, which nvcc links: unlike inline assembly, it lets nvcc merge neighbouring loads.
extern "C" __device__ float __nv_half2float(unsigned short);
#endif

namespace tessera {

namespace detail {

/// 2^e as f32, -126 <= e <= 127.
TESSERA_HD constexpr float power_of_two(int e) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23);
}

/// f64 to f32 with the last bit "sticky" (round to odd), so that a second rounding to fewer bits is
/// correct.
TESSERA_HD constexpr float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (back == value || value != value || (bits & 0x7fffffffu) == 0x7f800000u) return nearest;
  const bool too_large = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  if (too_large) bits -= 1;  // truncate towards zero
  return std::bit_cast<float>(bits | 1u);
}

}  // namespace detail

/// A float with E exponent and M mantissa bits stored in `Bits`. `Finite`: no infinity, all-ones is
/// NaN.
template <int E, int M, class Bits, bool Finite = false>
struct SmallFloat {
  static constexpr int exponent_bits = E;
  static constexpr int mantissa_bits = M;
  static constexpr int bias = (1 << (E - 1)) - 1;
  static constexpr Bits magnitude_mask = static_cast<Bits>((1u << (E + M)) - 1);
  static constexpr Bits quiet_nan =
      Finite ? magnitude_mask : static_cast<Bits>((((1u << E) - 1) << M) | (1u << (M - 1)));

  Bits bits = 0;

  constexpr SmallFloat() = default;
  template <class T>
  requires std::is_arithmetic_v<T> TESSERA_HD constexpr explicit SmallFloat(T value)
      : bits(encode(narrowable(value))) {}

  static TESSERA_HD constexpr SmallFloat from_bits(Bits bits) {
    SmallFloat out;
    out.bits = bits;
    return out;
  }

  /// Exact, but for the bits of a NaN on a GPU.
  TESSERA_HD constexpr operator float() const {
#if defined(__CUDA_ARCH__)
    if constexpr (E == 5 && M == 10 && !Finite) {
      if (!std::is_constant_evaluated()) {
        return __nv_half2float(bits);
      }
    }
#endif
    const std::uint32_t sign = static_cast<std::uint32_t>(bits >> (E + M)) << 31;
    const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & magnitude_mask) << (23 - M);
    if constexpr (E == 8) return std::bit_cast<float>(sign | magnitude);
    // Shifted into place the exponent is too small by 127 - bias; the product corrects it, also for
    // subnormals.
    std::uint32_t wide = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) *
                                                      detail::power_of_two(127 - bias));
    const std::uint32_t special =
        Finite ? std::uint32_t{magnitude_mask} << (23 - M) : std::uint32_t{(1u << E) - 1} << 23;
    if (magnitude >= special) wide = magnitude | 0x7f800000u | (Finite ? 0x00400000u : 0u);
    return std::bit_cast<float>(sign | wide);
  }

 private:
  template <class T>
  static TESSERA_HD constexpr float narrowable(T value) {
    if constexpr (std::is_same_v<T, float>) return value;
    else
      return detail::round_to_odd(static_cast<double>(value));  // 64-bit integers: exact up to 2^53
  }

  static TESSERA_HD constexpr Bits encode(float value) {
#if defined(__CUDA_ARCH__)
    if constexpr ((E == 5 && M == 10 && !Finite) || (E == 8 && M == 7)) {
      // The same but for the bits of a NaN.
      if (!std::is_constant_evaluated()) {
        Bits narrow = 0;
        if constexpr (E == 5) asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow) : "f"(value));
        else asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow) : "f"(value));
        return narrow;
      }
    }
#endif
    const auto word = std::bit_cast<std::uint32_t>(value);
    const Bits sign = static_cast<Bits>((word >> 31) << (E + M));
    std::uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<Bits>(sign | quiet_nan);
    constexpr int drop = 23 - M;
    constexpr std::uint32_t smallest_normal = static_cast<std::uint32_t>(1 - bias + 127) << 23;
    std::uint32_t out = 0;
    if (E == 8 || magnitude >= smallest_normal) {
      const std::uint32_t odd = (magnitude >> drop) & 1u;
      const std::uint64_t rounded = std::uint64_t{magnitude} + ((1u << (drop - 1)) - 1) + odd;
      out = static_cast<std::uint32_t>(
          (rounded - (std::uint64_t{static_cast<std::uint32_t>(127 - bias)} << 23)) >> drop);
    } else {
      // Adding a constant whose last place is the smallest subnormal lets the f32 adder round.
      constexpr float anchor = detail::power_of_two(1 - bias - M + 23);
      const float sum = std::bit_cast<float>(magnitude) + anchor;
      out = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(anchor);
    }
    constexpr std::uint32_t infinity = Finite ? magnitude_mask : ((1u << E) - 1) << M;
    if (out >= infinity) out = Finite ? quiet_nan : static_cast<Bits>(infinity);
    return static_cast<Bits>(sign | static_cast<Bits>(out));
  }
};

using f16 = SmallFloat<5, 10, std::uint16_t>;
using bf16 = SmallFloat<8, 7, std::uint16_t>;
using f8e5m2 = SmallFloat<5, 2, std::uint8_t>;
using f8e4m3 = SmallFloat<4, 3, std::uint8_t, true>;

/// f32 rounded to TF32 (10 mantissa bits, ties away from zero as `cvt.rna.tf32.f32` does: PTX
/// ISA 9.7.9.22).
TESSERA_HD constexpr float round_to_tf32(float value) {
#if defined(__CUDA_ARCH__)
  if (!std::is_constant_evaluated()) {  // PTX ISA 9.7.9.22, cvt: the same but for the bits of a NaN
    std::uint32_t rounded = 0;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
    return std::bit_cast<float>(rounded);
  }
#endif
  auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
}

}  // namespace tessera

/// std::numeric_limits, as C++ has it for its own floating-point types.
template <int E, int M, class Bits, bool Finite>
class std::numeric_limits<tessera::SmallFloat<E, M, Bits, Finite>> {
  using T = tessera::SmallFloat<E, M, Bits, Finite>;
  static constexpr Bits kInfinity = static_cast<Bits>(((1u << E) - 1) << M);
  static constexpr Bits kLargest = static_cast<Bits>((Finite ? T::magnitude_mask : kInfinity) - 1);

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false,
                        is_exact = false, is_bounded = true, has_infinity = !Finite,
                        has_quiet_NaN = true;
  static constexpr int radix = 2, digits = M + 1;
  static constexpr T min() { return T::from_bits(static_cast<Bits>(1u << M)); }
  static constexpr T denorm_min() { return T::from_bits(1); }
  static constexpr T max() { return T::from_bits(kLargest); }
  static constexpr T lowest() { return T(-static_cast<float>(max())); }
  static constexpr T epsilon() { return T(tessera::detail::power_of_two(-M)); }
  static constexpr T infinity() { return T::from_bits(Finite ? T::quiet_nan : kInfinity); }
  // NOLINTNEXTLINE(readability-identifier-naming): the standard library's name
  static constexpr T quiet_NaN() { return T::from_bits(T::quiet_nan); }
};
