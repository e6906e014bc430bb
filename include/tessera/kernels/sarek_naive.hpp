// Sarek's first kernel: a one-dimensional grid, one thread for each element of C in row-major
// order. No shared memory. A is (M,K), B is (K,N), C is (M,N), any strides.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"

namespace tessera {

template <TileShape S>
struct SarekNaive {
  static_assert(S.bm == 1 && S.bn > 0 && S.bn <= 1024,
                "sarek_naive: a block has BN threads in one row (BM = 1), at most 1024");
  static constexpr const char* name = "sarek_naive";
  static constexpr Dim3 block{S.bn};
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(checked_mul(M, N), S.bn));
  }

  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    const index_t i = index_t{t.block} * S.bn + t.thread;  // number of the element
    const index_t n = extent<1>(C);
    const index_t row = i / n, col = i % n;
    if (!C.contains(row, col)) return;
    auto acc = zero_of(C);
    for (index_t k = 0; k < extent<1>(A); ++k) acc = fma(A(row, k), B(k, col), acc);
    store(C, row, col, acc);
  }
};

}  // namespace tessera
