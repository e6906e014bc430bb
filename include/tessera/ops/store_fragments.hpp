// Stores what a warp has summed with matrix units: the fragments of its tile of C.
#pragma once

#include "tessera/ops/tensor_core.hpp"

namespace tessera {

/// Stores a warp's tile of sums, (Rows,Cols) fragments of (m,n), through the epilogue; skipped past
/// the edge. Where store_each() has loops, so has this, and `sums` is overwritten.
template <class Mma, int Rows, int Cols, class Thread, class Target>
TESSERA_KERNEL void store_fragments(const Thread& t, const Target& out,
                                    typename Mma::FragmentC (&sums)[Rows][Cols],
                                    Here here = Here::current()) {
  constexpr MmaShape mma = Mma::shape;
  if constexpr (kStoresInLoops<Target>) {
    TESSERA_NO_UNROLL
    for (int r = 0; r < Rows; ++r) {
      TESSERA_NO_UNROLL
      for (int c = 0; c < Cols; ++c) {
        Mma::store_d(t, tile<mma.m, mma.n>(out, r, c), sums[0][0], here);
        TESSERA_UNROLL_REGISTERS
        for (int next = 0; next + 1 < Cols; ++next) sums[0][next] = sums[0][next + 1];
      }
      TESSERA_UNROLL_REGISTERS
      for (int next = 0; next + 1 < Rows; ++next) {
        TESSERA_UNROLL_REGISTERS
        for (int c = 0; c < Cols; ++c) sums[next][c] = sums[next + 1][c];
      }
    }
  } else {
    TESSERA_UNROLL_REGISTERS
    for (int r = 0; r < Rows; ++r) {
      TESSERA_UNROLL_REGISTERS
      for (int c = 0; c < Cols; ++c)
        Mma::store_d(t, tile<mma.m, mma.n>(out, r, c), sums[r][c], here);
    }
  }
}

}  // namespace tessera
