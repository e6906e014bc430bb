// What happens to a sum before it is stored: C = activation(alpha * sum + beta * C + bias), written
// once, here, so that every kernel, the CPU path and the reference apply the same roundings.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tessera/core/dtype.hpp"

namespace tessera {

/// Applied last, in the accumulator's type, before the result is rounded. NaN stays NaN.
enum class Activation : std::uint8_t {
  none,
  relu,  ///< max(x, 0)
  gelu,  ///< x/2 (1 + erf(x / sqrt 2)): Hendrycks & Gimpel, "Gaussian Error Linear Units", arXiv
         ///< 1606.08415
  silu   ///< x / (1 + exp(-x))
};
/// Which vector is added: none, one value for each row (M values) or for each column (N values).
enum class Bias : std::uint8_t { none, per_row, per_column };

template <class T>
TESSERA_HD T activate(Activation activation, T x) {
  if constexpr (std::is_integral_v<T>) {
    return activation == Activation::relu && x < 0 ? T{0} : x;
  } else {
    switch (activation) {
      case Activation::relu: return x < T{0} ? T{0} : x;
      case Activation::gelu: return x * T(0.5) * (T{1} + std::erf(x * T(0.70710678118654752440)));
      case Activation::silu: return x / (T{1} + std::exp(-x));
      default: return x;
    }
  }
}

/// The scalars of the epilogue, in the accumulator's type.
template <class Acc>
struct EpilogueScalars {
  Acc alpha{1}, beta{0};
  Activation activation = Activation::none;
};

/// alpha * sum + beta * old + bias, activated. `old` is used only when beta != 0, so its NaN vanish
/// otherwise.
template <class Acc, class Old>
TESSERA_HD Acc finish(const EpilogueScalars<Acc>& s, Acc sum, Old&& old, const Acc* bias) {
  Acc value = sum;
  if (s.alpha != Acc{1}) {
    if constexpr (std::is_integral_v<Acc>) value = fma(s.alpha, sum, Acc{0});
    else value = s.alpha * sum;
  }
  if (s.beta != Acc{0}) value = fma(s.beta, static_cast<Acc>(old()), value);
  if (bias != nullptr) value = fma(Acc{1}, *bias, value);
  return activate(s.activation, value);
}

}  // namespace tessera
