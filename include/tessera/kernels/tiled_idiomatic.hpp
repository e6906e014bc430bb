// The idiomatic tiled puzzle: tile views and asynchronous copies instead of index arithmetic. Copy,
// commit, wait, barrier, multiply, barrier. Right for every size: a copy fills what is past the
// edge with zero. A is (M,K), B is (K,N), C is (M,N), any strides.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

template <TileShape S>
struct TiledIdiomatic {
  static_assert(S.bm > 0 && S.bn > 0 && S.bk > 0, "tiled_idiomatic: BM, BN and BK are positive");
  static_assert(S.bm * S.bn <= 1024, "tiled_idiomatic: a block has BM * BN threads, at most 1024");
  static constexpr const char* name = "tiled_idiomatic";
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
    auto a = tile<1, S.bk>(sA, t.thread.y, 0);            // (1,BK), my row
    auto b = tile<S.bk, 1>(sB, 0, t.thread.x);            // (BK,1), my column
    auto acc = zero_of(C);
    for (index_t k = 0; k < tiles<1>(A, S.bk); ++k) {
      copy_async(t, tile<S.bm, S.bk>(A, t.block.y, k), sA);
      copy_async(t, tile<S.bk, S.bn>(B, k, t.block.x), sB);
      commit(t);
      wait<0>(t);   // my copies have arrived
      t.barrier();  // all threads' copies have: sA and sB are complete
      TESSERA_UNROLL
      for (int i = 0; i < S.bk; ++i) acc = fma(a(0, i), b(i, 0), acc);
      t.barrier();  // sA and sB may be overwritten
    }
    store(gC, t.thread.y, t.thread.x, acc);  // skipped past the edge
  }
};

}  // namespace tessera
