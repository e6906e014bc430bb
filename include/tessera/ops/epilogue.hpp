// What happens to a sum before it is stored: C = activation(alpha * sum + beta * C + bias), written
// once, here, so that every kernel, the CPU path and the reference apply the same roundings.
//
// A kernel takes C either as a plain tensor (C = sum) or as an Output (everything above); it calls
// tile() and store() on both and sees no difference.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tessera/core/dtype.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"

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

/// C together with its epilogue. Behaves like the tensor C for tile() and store().
template <AnyTensor CTensor>
struct Output {
  using element = typename CTensor::element;
  using accumulator = Accumulator<element>;

  CTensor c;
  EpilogueScalars<accumulator> scalars;
  const accumulator* bias = nullptr;   ///< of this view's first row and column
  index_t bias_row = 0, bias_col = 0;  ///< 1 along the mode that the bias follows

  template <class... I>
  TESSERA_HD constexpr bool contains(I... coordinates) const {
    return c.contains(coordinates...);
  }
  template <int Mode>
  TESSERA_HD constexpr index_t valid() const {
    return c.template valid<Mode>();
  }
  template <int Mode>
  TESSERA_HD constexpr index_t extent() const {
    return c.template extent<Mode>();
  }
};

/// Tile (i, j) of the output, with the part of the bias that belongs to it.
template <index_t Rows, index_t Cols, AnyTensor CTensor>
TESSERA_HD constexpr auto tile(const Output<CTensor>& out, index_t i, index_t j) {
  auto c = tile<Rows, Cols>(out.c, i, j);
  const auto* bias =
      out.bias == nullptr ? nullptr : out.bias + i * Rows * out.bias_row + j * Cols * out.bias_col;
  return Output<decltype(c)>{c, out.scalars, bias, out.bias_row, out.bias_col};
}

/// Stores one finished sum; does nothing where (row, col) does not exist.
template <AnyTensor CTensor, class Acc>
TESSERA_KERNEL void store(const Output<CTensor>& out, index_t row, index_t col, Acc sum) {
  if (!out.contains(row, col)) return;
  using T = std::remove_cv_t<typename CTensor::element>;
  const auto* bias =
      out.bias == nullptr ? nullptr : out.bias + row * out.bias_row + col * out.bias_col;
  auto&& target = out.c(row, col);
  target = convert<T>(finish(
      out.scalars, sum, [&] { return target; }, bias));
}

template <AnyTensor CTensor, class Acc>
TESSERA_KERNEL void store(const CTensor& c, index_t row, index_t col, Acc sum) {
  if (c.contains(row, col)) c(row, col) = convert<std::remove_cv_t<typename CTensor::element>>(sum);
}

/// Stores a thread's tile of sums (TM,TN) at tile (i, j) of `out`, element by element.
template <class Out, class Acc, Layout L>
TESSERA_KERNEL void store_tile(const Out& out, index_t i, index_t j, const Storage<Acc, L>& acc) {
  constexpr index_t rows = L.shape.leaf(0), cols = L.shape.leaf(1);
  TESSERA_UNROLL_REGISTERS
  for (index_t r = 0; r < rows; ++r) {
    TESSERA_UNROLL_REGISTERS
    for (index_t c = 0; c < cols; ++c) store(out, i * rows + r, j * cols + c, acc(r, c));
  }
}

/// A zero in the type that sums of C are kept in.
template <class C>
TESSERA_HD constexpr auto zero_of(const C&) {
  return Accumulator<typename C::element>{};
}
/// That type.
template <class C>
using AccumulatorFor = Accumulator<std::remove_cv_t<typename std::remove_cvref_t<C>::element>>;

}  // namespace tessera
