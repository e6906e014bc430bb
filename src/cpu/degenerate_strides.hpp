// What a single row or column may have as its stride: anything, as BLAS allows any leading
// dimension then. Used by the entries of the packed path.
#pragma once

#include <utility>

#include "tessera/cpu/gemm.hpp"

namespace tessera::cpu {

/// Larger strides may overflow in bytes. No memory has them, so their extent is 1.
constexpr index_t kMostStride = index_t{1} << 48;
inline bool is_degenerate(index_t extent, index_t stride) {
  return extent == 1 && (stride > kMostStride || stride < -kMostStride);
}
template <class In, class Out>
bool has_degenerate_strides(const Gemm<In, Out>& call) {
  if (call.M != 1 && call.N != 1 && call.K != 1) return false;
  return is_degenerate(call.M, call.a_row) || is_degenerate(call.K, call.a_col) ||
         is_degenerate(call.K, call.b_row) || is_degenerate(call.N, call.b_col) ||
         is_degenerate(call.M, call.c_row) || is_degenerate(call.N, call.c_col);
}
template <class In, class Out>
Gemm<In, Out> clamped(Gemm<In, Out> call) {
  for (auto [extent, stride] : {std::pair{call.M, &call.a_row},
                                {call.K, &call.a_col},
                                {call.K, &call.b_row},
                                {call.N, &call.b_col},
                                {call.M, &call.c_row},
                                {call.N, &call.c_col}})
    if (is_degenerate(extent, *stride)) *stride = 1;
  return call;
}

}  // namespace tessera::cpu
