// A product transposed so that the rows of C are contiguous, as vector stores need.
#pragma once

#include <utility>

#include "complex_parts.hpp"

namespace tessera::cpu {

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
