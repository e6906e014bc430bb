// Kernel 1: one thread computes one element of C straight from global memory. Neighbouring threads
// take neighbouring ROWS, so that each load of a warp touches 32 rows of A and C: the slowest
// access pattern on a GPU, on purpose. A is (M,K), B is (K,N), C is (M,N), any strides.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"

namespace tessera {

template <TileShape S>
struct Naive {
  static_assert(S.bm > 0 && S.bn > 0 && S.bm * S.bn <= 1024,
                "naive: a block has BM * BN threads, 1 to 1024");
  static constexpr const char* name = "naive";
  static constexpr Dim3 block{S.bm, S.bn};
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(M, S.bm), ceil_div(N, S.bn));
  }

  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    const index_t row = index_t{t.block.x} * S.bm + t.thread.x;  // x counts rows: uncoalesced
    const index_t col = index_t{t.block.y} * S.bn + t.thread.y;
    if (!C.contains(row, col)) return;
    auto acc = zero_of(C);
    for (index_t k = 0; k < extent<1>(A); ++k) acc = fma(A(row, k), B(k, col), acc);
    store(C, row, col, acc);
  }
};

}  // namespace tessera
