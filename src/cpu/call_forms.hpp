// The form of a call for which routes are chosen. What a single row or column has as its stride may
// be anything, as BLAS allows any leading dimension then; and the rows of C are contiguous, as
// vector stores need, after transposition if they must.
#pragma once

#include <utility>

#include "complex_parts.hpp"

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

/// The same product with C transposed: C' = B' A'.
template <class In, class Out>
Gemm<typename OperandTypes<In>::Swapped, Out> swapped(const Gemm<In, Out>& call) {
  Gemm<typename OperandTypes<In>::Swapped, Out> out;
  out.M = call.N, out.N = call.M, out.K = call.K;
  out.A = call.B, out.a_row = call.b_col, out.a_col = call.b_row;
  out.B = call.A, out.b_row = call.a_col, out.b_col = call.a_row;
  out.C = call.C, out.c_row = call.c_col, out.c_col = call.c_row;
  out.alpha = call.alpha, out.beta = call.beta, out.bias = call.bias, out.last = call.last;
  if (call.bias.kind != Bias::none)
    out.bias.kind = call.bias.kind == Bias::per_row ? Bias::per_column : Bias::per_row;
  out.threads = call.threads, out.arithmetic = call.arithmetic;
  if constexpr (kIsComplexPart<In>) {
    out.combination = call.combination;
    std::swap(out.combination.conjugates_a, out.combination.conjugates_b);
  }
  return out;
}

/// Vectors run along the rows of C, whose elements should be contiguous. So are partial sums that
/// continue.
template <class In, class Out>
bool is_to_be_swapped(const Gemm<In, Out>& call) {
  return call.c_col != 1 && call.c_row == 1 && call.chain == Chain::begins;
}

}  // namespace tessera::cpu
