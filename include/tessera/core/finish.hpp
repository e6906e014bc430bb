// The epilogue of an element of C: C = clamp(activation(alpha * sum + beta * C + bias)),
// written once, here, so that every kernel, the CPU path and the reference apply the same
// roundings.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tessera/core/activation.hpp"
#include "tessera/core/dtype.hpp"

namespace tessera {

/// Which vector is added: none, one value for each row (M values) or for each column (N values).
enum class Bias : std::uint8_t { none, per_row, per_column };

/// The scalars of the epilogue, in the accumulator's type.
template <class Acc>
struct EpilogueScalars {
  Acc alpha{1}, beta{0};
  LastStep<Acc> last;
};

/// alpha * sum + beta * old + bias, activated and clamped. `old` is read only when beta != 0, so a
/// NaN in it is otherwise ignored.
template <class Acc, class Old>
TESSERA_CHECKED_SYMBOL TESSERA_HD Acc finish(const EpilogueScalars<Acc>& s, Acc sum, Old&& old,
                                             const Acc* bias) {
  Acc value = sum;
  if (s.alpha != Acc{1}) {
    if constexpr (std::is_integral_v<Acc>) value = fma(s.alpha, sum, Acc{0});
    else value = s.alpha * sum;
  }
  if (s.beta != Acc{0}) value = fma(s.beta, static_cast<Acc>(old()), value);
  if (bias != nullptr) value = fma(Acc{1}, *bias, value);
  return clamp(activate(s.last.activation, value), s.last.low, s.last.high);
}

}  // namespace tessera
