// A product turned so that C has its columns side by side, as vectors want them.
#pragma once

#include <utility>

#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

/// The same product with C transposed: C' = B' A'.
template <class In, class Out>
Gemm<In, Out> swapped(Gemm<In, Out> call) {
  std::swap(call.M, call.N);
  std::swap(call.A, call.B);
  std::swap(call.a_row, call.b_col);
  std::swap(call.a_col, call.b_row);
  std::swap(call.c_row, call.c_col);
  if (call.bias.kind != Bias::none)
    call.bias.kind = call.bias.kind == Bias::per_row ? Bias::per_column : Bias::per_row;
  return call;
}

}  // namespace tessera::cpu
