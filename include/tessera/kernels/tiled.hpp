// Kernel 3: a block stages one tile of A and one of B in shared memory; each thread owns one
// element of C. Each element of A and B is now read BN and BM times from shared memory instead of
// global memory. A is (M,K), B is (K,N), C is (M,N), any strides.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera {

template <TileShape S>
struct Tiled {
  static_assert(S.bm > 0 && S.bn > 0 && S.bk > 0, "tiled: BM, BN and BK are positive");
  static_assert(S.bm * S.bn <= 1024, "tiled: a block has BM * BN threads, at most 1024");
  static constexpr const char* name = "tiled";
  static constexpr Dim3 block{S.bn, S.bm};
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(N, S.bn), ceil_div(M, S.bm));
  }
  template <class T>
  struct Shared {
    Tile<T, S.bm, S.bk> a;
    Tile<T, S.bk, S.bn> b;
  };

  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& stage = shared<Shared<ElementOf<decltype(A)>>>(t);
    auto sA = stage.a.view();                             // (BM,BK)
    auto sB = stage.b.view();                             // (BK,BN)
    auto gC = tile<S.bm, S.bn>(C, t.block.y, t.block.x);  // (BM,BN), clipped at the edge
    const int row = t.thread.y, col = t.thread.x;
    auto a = tile<1, S.bk>(sA, row, 0);  // (1,BK), my row
    auto b = tile<S.bk, 1>(sB, 0, col);  // (BK,1), my column
    auto acc = zero_of(C);
    for (index_t k = 0; k < tiles<1>(A, S.bk); ++k) {
      t.superstep("load", [&] {
        copy(t, tile<S.bm, S.bk>(A, t.block.y, k), sA);  // past the edge reads as zero
        copy(t, tile<S.bk, S.bn>(B, k, t.block.x), sB);
      });  // sA and sB are complete
      t.superstep("multiply", [&] {
        TESSERA_UNROLL
        for (int i = 0; i < S.bk; ++i) acc = fma(a(0, i), b(i, 0), acc);
      });  // sA and sB may be overwritten
    }
    store(gC, row, col, acc);  // skipped past the edge
  }
};

}  // namespace tessera
