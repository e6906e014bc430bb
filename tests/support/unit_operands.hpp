// Random operands for matrix instructions, kinds of them that tell one rule of rounding from
// another.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "tessera/core/small_float.hpp"

namespace tessera::testing {

enum class Operands { near, any, zeros, subnormal, large, cancelling, special };
inline constexpr std::array<const char*, 7> kOperandNames = {
    "near each other", "any finite bits", "zeros beside any", "subnormal",
    "large",           "cancelling",      "with inf and NaN"};

/// Values of T by sign, exponent field and fraction. float has all its bits, also as TF32.
template <class T>
struct FloatBits {
  static constexpr int exponent_bits = sizeof(T) == 8 ? 11 : 8,
                       fraction_bits = sizeof(T) == 8 ? 52 : 23;
  static T make(std::uint64_t bits) {
    if constexpr (sizeof(T) == 8) return std::bit_cast<T>(bits);
    else return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  }
};
template <int E, int M, class Bits, bool Finite>
struct FloatBits<SmallFloat<E, M, Bits, Finite>> {
  static constexpr int exponent_bits = E, fraction_bits = M;
  static auto make(std::uint64_t bits) {
    return SmallFloat<E, M, Bits, Finite>::from_bits(static_cast<Bits>(bits));
  }
};

class DrawOperands {
 public:
  DrawOperands(Operands kind, std::uint64_t seed) : kind_(kind), random_(seed) {}

  /// An element of A or B.
  template <class T>
  T operand() {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(random_());
    else {
      constexpr int top = (1 << FloatBits<T>::exponent_bits) - 1, bias = top / 2;
      switch (kind_) {
        case Operands::any: return value<T>(below(top));
        case Operands::zeros: return below(2) != 0 ? zero<T>() : value<T>(below(top));
        case Operands::subnormal: return value<T>(below(3));
        case Operands::large: return value<T>(std::min(bias + bias / 2 + below(2), top - 1));
        case Operands::special:
          if (const int draw = below(64); draw < 3)
            return draw == 0 ? zero<T>() : value<T>(top, draw == 1);
          [[fallthrough]];
        default: return value<T>(bias - 4 + below(9));
      }
    }
  }
  /// An element of C, of f32 or f64 for products of In.
  template <class In, class T>
  T addend() {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(random_());
    else {
      constexpr int top = (1 << FloatBits<T>::exponent_bits) - 1, bias = top / 2;
      constexpr int operand_bias = (1 << (FloatBits<In>::exponent_bits - 1)) - 1;
      switch (kind_) {
        case Operands::any:
        case Operands::zeros: return value<T>(below(top));
        case Operands::subnormal:
          return value<T>(below(2) != 0 ? below(3)
                                        : std::max(bias + 2 - 2 * operand_bias - below(30), 0));
        case Operands::large: return value<T>(top - 1 - below(3));
        case Operands::cancelling:
          return below(4) == 0 ? zero<T>() : value<T>(bias - 30 + below(40));
        case Operands::special:
          if (const int draw = below(48); draw < 3)
            return draw == 0 ? zero<T>() : value<T>(top, draw == 1);
          [[fallthrough]];
        default: return value<T>(bias - 8 + below(17));
      }
    }
  }
  /// Rows of A and columns of B of depth K. Those that cancel have pairs that differ in their last
  /// bit or not at all.
  template <class T>
  void fill(std::vector<T>& rows, bool is_negated) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i] = operand<T>();
      if constexpr (!std::is_integral_v<T>) {
        if (kind_ != Operands::cancelling || i % 2 == 0) continue;
        using Bits = std::conditional_t<
            sizeof(T) == 8, std::uint64_t,
            std::conditional_t<sizeof(T) == 4, std::uint32_t,
                               std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
        auto bits = static_cast<std::uint64_t>(std::bit_cast<Bits>(rows[i - 1])) ^
                    (below(3) == 0 ? 1u : 0u);
        if (is_negated) bits ^= std::uint64_t{1} << (8 * sizeof(T) - 1);
        rows[i] = FloatBits<T>::make(bits);
      }
    }
  }

 private:
  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  template <class T>
  T value(int field, bool is_infinite = false) {
    constexpr int M = FloatBits<T>::fraction_bits, E = FloatBits<T>::exponent_bits;
    const std::uint64_t draw = random_();
    const std::uint64_t fraction = is_infinite ? 0 : draw & ((std::uint64_t{1} << M) - 1);
    return FloatBits<T>::make(draw >> 63 << (E + M) | static_cast<std::uint64_t>(field) << M |
                              fraction);
  }
  template <class T>
  T zero() {
    return FloatBits<T>::make((random_() & 1)
                              << (FloatBits<T>::exponent_bits + FloatBits<T>::fraction_bits));
  }

  Operands kind_;
  std::mt19937_64 random_;
};

}  // namespace tessera::testing
