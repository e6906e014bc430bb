// One thread's share of a tile product: a small tile of accumulators in registers. Each element of
// acc stays one chain of fused multiply-adds in order of k.
#pragma once

#include "tessera/core/dtype.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera {

/// acc (TM,TN) += a (TM,K) * b (K,TN), all static shapes.
template <class Acc, Layout L, AnyTensor A, AnyTensor B>
TESSERA_KERNEL void multiply_accumulate(Storage<Acc, L>& acc, const A& a, const B& b,
                                        Here here = Here::current()) {
  constexpr index_t rows = L.shape.leaf(0), cols = L.shape.leaf(1),
                    depth = A::pattern.shape.leaf(1);
  static_assert(
      A::pattern.shape.is_static() && B::pattern.shape.is_static() &&
          A::pattern.shape.leaf(0) == rows && B::pattern.shape.leaf(1) == cols &&
          B::pattern.shape.leaf(0) == depth,
      "multiply_accumulate: acc is (TM,TN), a is (TM,K), b is (K,TN), all known at compile time");
#if TESSERA_GPU_CODE || TESSERA_CHECK
  // Registers: one column of a and one row of b at a time, reused TM * TN times. The checker counts
  // what a GPU does.
  TESSERA_UNROLL
  for (index_t k = 0; k < depth; ++k) {
    Acc ra[rows], rb[cols];
    TESSERA_UNROLL
    for (index_t i = 0; i < rows; ++i) ra[i] = static_cast<Acc>(a(i, k, here));
    TESSERA_UNROLL
    for (index_t j = 0; j < cols; ++j) rb[j] = static_cast<Acc>(b(k, j, here));
    TESSERA_UNROLL
    for (index_t i = 0; i < rows; ++i) {
      TESSERA_UNROLL
      for (index_t j = 0; j < cols; ++j) acc(i, j, here) = fma(ra[i], rb[j], acc(i, j, here), here);
    }
  }
#else
  // Vector units: the lanes are the columns, and the accumulator stays in its register along k.
  TESSERA_NO_UNROLL
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) {
      Acc sum = acc(i, j, here);
      TESSERA_UNROLL
      for (index_t k = 0; k < depth; ++k) sum = fma(a(i, k, here), b(k, j, here), sum, here);
      acc(i, j, here) = sum;
    }
  }
#endif
}

}  // namespace tessera
