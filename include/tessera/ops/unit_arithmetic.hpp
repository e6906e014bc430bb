// What one matrix instruction of NVIDIA computes for one element of D = A * B + C, bit by bit.
//
// The units of f16, bf16, TF32 and f8 add all products of an instruction, and C, at once. Each
// product is exact and not normalised: its significand is in [1, 4), its exponent the sum of two.
// All terms are aligned to the largest exponent and truncated (toward zero) to the number of
// fraction bits below; their sum is exact, and is truncated again to the result's precision. So
// the order of the products does not matter, and the result is infinite where the exponent is too
// large.
//
//                       fraction bits   products at once                     fraction bits of D
//   sm_80 mma           24              8, of TF32 4: two rounds for 16      23
//   sm_90 mma, wgmma    25              all                                  23
//   sm_90 wgmma, f8     13              all 32                               13
//   sm_90 mma, f8       25              twice 16 as f16 (below), + C rounded 23
//
// TF32 operands are truncated to 10 fraction bits. A subnormal operand keeps the smallest exponent
// of its type; a product with a zero has no exponent and takes no part in the alignment; a sum of
// zero is +0; every NaN is 0x7fffffff. Sums of i8 and u8 are exact and wrap modulo 2^32. f64 is a
// chain of fused
// multiply-adds in order of k, each rounded to nearest.
//
// sm_90 has no f8 instruction for a warp. The compiler widens both operands to f16 (exact) and
// multiplies twice from zero, first the first two of each four neighbours along k, then the others;
// then it adds C by an ordinary addition.
//
// Sources: Xie et al., "MMA-Sim", arXiv 2511.10909, and their model, github.com/microsoft/MMA-Sim;
// Khattak and Mikaitis, arXiv 2512.07004 (H100). f8 of a warp: the machine code that ptxas 13.0
// writes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tessera/core/dtype.hpp"

namespace tessera {

/// The instruction whose arithmetic is modelled: mma.sync of a warp, or wgmma of a warpgroup.
enum class MatrixUnit : std::uint8_t { sm_80, sm_90, sm_90_warpgroup };

/// The one that the CPU engine reproduces.
inline constexpr MatrixUnit kEmulatedUnit = MatrixUnit::sm_90;

namespace detail {

template <class In>
inline constexpr bool kIsFloat8 = std::is_same_v<In, f8e4m3> || std::is_same_v<In, f8e5m2>;

/// Do units add the products of this type at once? In float means TF32.
template <class In>
inline constexpr bool kIsFusedInput = std::is_same_v<In, float> || std::is_same_v<In, f16> ||
                                      std::is_same_v<In, bf16> || kIsFloat8<In>;

/// How a unit adds products of In.
struct UnitRules {
  int fraction_bits;        ///< of a term
  int result_bits;          ///< fraction bits of the sum
  int depth;                ///< products at once
  bool is_widened = false;  ///< f8 as f16, by two halves from zero, then C
};
template <MatrixUnit U, class In>
constexpr UnitRules unit_rules() {
  static_assert(U != MatrixUnit::sm_80 || !kIsFloat8<In>, "sm_80 has no matrix unit for f8");
  if (U == MatrixUnit::sm_80) return {24, 23, sizeof(In) == 4 ? 4 : 8};
  if (!kIsFloat8<In>) return {25, 23, 16};
  if (U == MatrixUnit::sm_90) return {25, 23, 16, true};
  return {13, 13, 32};
}

/// The type in which the unit multiplies In, and its fraction bits.
template <MatrixUnit U, class In>
using UnitInput = std::conditional_t<unit_rules<U, In>().is_widened, f16, In>;
template <class In>
constexpr int unit_mantissa() {
  if constexpr (std::is_same_v<In, float>) return 10;
  else return In::mantissa_bits;
}

/// The exponent of an infinity (significand +-1) and of a NaN (significand 2): larger than the sum
/// of any two others.
inline constexpr int kSpecialExponent = 8192;
/// The exponent of zero: below that of every product and of C, with any factor.
inline constexpr int kZeroExponent = -2048;

/// significand * 2^(exponent - fraction bits of the type).
struct UnitTerm {
  std::int16_t significand, exponent;
};
template <class In>
constexpr UnitTerm unit_term(In value) {
  constexpr int M = unit_mantissa<In>();
  int sign = 0, field = 0, fraction = 0, bias = 127, top = 255;
  bool is_finite = false;
  if constexpr (std::is_same_v<In, float>) {
    const auto bits = static_cast<int>(std::bit_cast<std::uint32_t>(value) >> 13);
    sign = bits >> 18, field = bits >> 10 & 255, fraction = bits & 1023;
    is_finite = field != top;
  } else {
    constexpr int E = In::exponent_bits;
    const int bits = value.bits;
    bias = In::bias, top = (1 << E) - 1;
    sign = bits >> (E + M), field = bits >> M & top, fraction = bits & ((1 << M) - 1);
    is_finite = std::is_same_v<In, f8e4m3> ? field != top || fraction != 7 : field != top;
  }
  int significand = fraction | (field > 0 ? 1 << M : 0);
  int exponent = significand == 0 ? kZeroExponent : std::max(field, 1) - bias;
  if (!is_finite) significand = fraction != 0 ? 2 : 1, exponent = kSpecialExponent;
  return {static_cast<std::int16_t>(sign != 0 ? -significand : significand),
          static_cast<std::int16_t>(exponent)};
}

/// The terms of a row of A or a column of B as separate arrays, so that the compiler can vectorize.
struct UnitTerms {
  const std::int16_t *significand, *exponent;
};

inline constexpr float kUnitNan = std::bit_cast<float>(0x7fffffffu);

/// A sum that has an infinity or a NaN among its terms.
template <int K>
constexpr float special_sum(float c, UnitTerms a, UnitTerms b) {
  bool plus = false, minus = false, is_nan = c != c;
  const auto add = [&](bool negative) { (negative ? minus : plus) = true; };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (c == infinity || c == -infinity) add(c < 0);
  for (int k = 0; k < K; ++k) {
    const int x = a.significand[k], y = b.significand[k];
    const bool a_special = a.exponent[k] == kSpecialExponent;
    const bool b_special = b.exponent[k] == kSpecialExponent;
    if (!a_special && !b_special) continue;
    is_nan |= (a_special && x * x == 4) || (b_special && y * y == 4) || x * y == 0;
    add((x < 0) != (y < 0));
  }
  if (is_nan || (plus && minus)) return kUnitNan;
  return plus ? infinity : -infinity;
}

/// sum * 2^unit, truncated to `Result` fraction bits.
template <int Result>
constexpr float unit_result(std::int64_t sum, int unit) {
  auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  if (magnitude == 0) return 0;
  const int width = static_cast<int>(std::bit_width(magnitude)), exponent = width - 1 + unit;
  if (exponent > 127) return std::bit_cast<float>(sum < 0 ? 0xff800000u : 0x7f800000u);
  const int last = std::max(exponent, -126) - Result;  // of the result, as a power of two
  const int cut = last - unit;
  if (cut >= width) return 0;
  magnitude = cut >= 0 ? magnitude >> cut : magnitude << -cut;
  // Adding the leading bit increments the exponent field; a subnormal has no leading bit.
  const auto field = static_cast<std::uint32_t>(std::max(exponent, -126) + 126) << 23;
  const auto bits = field + (static_cast<std::uint32_t>(magnitude) << (23 - Result));
  return std::bit_cast<float>(sum < 0 ? bits | 0x80000000u : bits);
}

/// c + a[0] b[0] + ... + a[K-1] b[K-1] at once. Mantissa: fraction bits of a and of b.
template <int Fraction, int Result, int Mantissa, int K>
constexpr float fused_sum(float c, UnitTerms a, UnitTerms b) {
  const auto bits = std::bit_cast<std::uint32_t>(c);
  const int field = static_cast<int>(bits >> 23 & 255);
  const int own_exponent = (field > 0 ? field : 1) - 127;
  int largest = field == 255 ? kSpecialExponent : own_exponent;
  TESSERA_NO_UNROLL                  // vectors instead
      for (int k = 0; k < K; ++k) {  // no function calls, which unoptimised builds would not inline
    const int exponent = a.exponent[k] + b.exponent[k];
    largest = exponent > largest ? exponent : largest;
  }
  if (largest >= kSpecialExponent / 2) [[unlikely]]
    return special_sum<K>(c, a, b);
  constexpr int up = std::max(Fraction - 23, 0), down = std::max(23 - Fraction, 0);
  const std::uint32_t significand = (bits & 0x7fffffu) | (field > 0 ? 0x800000u : 0);
  const auto own =
      static_cast<std::int64_t>(significand << up >> down >> std::min(largest - own_exponent, 31));
  std::int64_t sum = bits >> 31 != 0 ? -own : own;
  constexpr int some = K < 8 ? K : 8;  // of them 32 bits hold the sum: each is below 2^27
  for (int begin = 0; begin < K; begin += some) {
    std::int32_t part = 0;
    TESSERA_NO_UNROLL
    for (int k = begin; k < begin + some; ++k) {
      const std::int32_t product = a.significand[k] * b.significand[k];
      const std::int32_t sign = product >> 31;  // all ones where it is negative
      const int away = largest - a.exponent[k] - b.exponent[k], shift = away < 31 ? away : 31;
      const std::int32_t term = ((product ^ sign) - sign) << (Fraction - 2 * Mantissa) >> shift;
      part += (term ^ sign) - sign;
    }
    sum += part;
  }
  return unit_result<Result>(sum, largest - Fraction);
}

/// The position of product k of K in the order in which the unit adds them.
template <MatrixUnit U, class In>
constexpr int unit_position(int k, int K) {
  if (!unit_rules<U, In>().is_widened) return k;
  return k % 4 / 2 * (K / 2) + k / 4 * 2 + k % 2;
}
template <MatrixUnit U, class In>
constexpr UnitTerm unit_operand(In value) {
  if constexpr (std::is_same_v<UnitInput<U, In>, In>) return unit_term(value);
  else return unit_term(static_cast<UnitInput<U, In>>(static_cast<float>(value)));
}

/// The element of D: the sum of K terms in the order of unit_position.
template <MatrixUnit U, class In, int K>
constexpr float sum_of_terms(float c, UnitTerms a, UnitTerms b) {
  constexpr UnitRules rules = unit_rules<U, In>();
  constexpr int depth = std::min(K, rules.depth);
  static_assert(K % depth == 0 && (!rules.is_widened || K == 32),
                "the depth of an instruction is a multiple of what its unit adds at once");
  float sum = rules.is_widened ? 0 : c;
  for (int k = 0; k < K; k += depth) {
    sum =
        fused_sum<rules.fraction_bits, rules.result_bits, unit_mantissa<UnitInput<U, In>>(), depth>(
            sum, {a.significand + k, a.exponent + k}, {b.significand + k, b.exponent + k});
  }
  if (!rules.is_widened) return sum;
  return sum + c == sum + c ? sum + c : kUnitNan;
}

/// One product after the other: f64, and integers, which wrap.
template <int K, class In, class Out>
constexpr Out chained_sum(Out c, const In* a, const In* b) {
  if constexpr (std::is_integral_v<Out>) {  // unsigned: GCC 12 generates slower code for signed
    using Wrapping = std::make_unsigned_t<Out>;
    auto sum = static_cast<Wrapping>(c);
    for (int k = 0; k < K; ++k) sum += static_cast<Wrapping>(a[k]) * static_cast<Wrapping>(b[k]);
    return static_cast<Out>(sum);
  } else {
    for (int k = 0; k < K; ++k) c = multiply_add(a[k], b[k], c);
    return c;
  }
}

}  // namespace detail

/// One element of D: c + a[0] b[0] + ... + a[K-1] b[K-1] as an instruction of depth K of this unit
/// computes it. In float means TF32, and its operands need not be rounded.
template <MatrixUnit U, int K, class In, class Out>
constexpr Out sum_of_products(Out c, const In* a, const In* b) {
  if constexpr (detail::kIsFusedInput<In>) {
    static_assert(std::is_same_v<Out, float>, "sums of f16, bf16, TF32 and f8 are f32");
    std::int16_t parts[4][K]{};
    for (int k = 0; k < K; ++k) {
      const int at = detail::unit_position<U, In>(k, K);
      const auto x = detail::unit_operand<U>(a[k]), y = detail::unit_operand<U>(b[k]);
      parts[0][at] = x.significand, parts[1][at] = x.exponent;
      parts[2][at] = y.significand, parts[3][at] = y.exponent;
    }
    return detail::sum_of_terms<U, In, K>(c, {parts[0], parts[1]}, {parts[2], parts[3]});
  } else {
    return detail::chained_sum<K>(c, a, b);
  }
}

}  // namespace tessera
