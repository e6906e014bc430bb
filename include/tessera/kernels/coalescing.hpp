// Kernel 2: as naive, but neighbouring threads take neighbouring COLUMNS. The loads of a warp from
// B and its stores to C fall into the same few sectors; the loads from A are one address for all
// lanes. A is (M,K), B is (K,N), C is (M,N), any strides.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"

namespace tessera {

template <TileShape S>
struct Coalescing {
  static_assert(S.bm > 0 && S.bn > 0 && S.bm * S.bn <= 1024,
                "coalescing: a block has BM * BN threads, 1 to 1024");
  static constexpr const char* name = "coalescing";
  static constexpr Dim3 block{S.bn, S.bm};
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(N, S.bn), ceil_div(M, S.bm));
  }

  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    const index_t row = index_t{t.block.y} * S.bm + t.thread.y;
    const index_t col = index_t{t.block.x} * S.bn + t.thread.x;  // x counts columns
    if (!C.contains(row, col)) return;
    auto acc = zero_of(C);
    for (index_t k = 0; k < extent<1>(A); ++k) acc = fma(A(row, k), B(k, col), acc);
    store(C, row, col, acc);
  }
};

}  // namespace tessera
