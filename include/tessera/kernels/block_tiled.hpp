// Kernel 5: a thread owns a TM x TN tile of C in registers; along k it adds outer products of TM
// elements of A and TN elements of B. Each element read from shared memory is used TN or TM times.
// A is (M,K), B is (K,N), C is (M,N), any strides.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/ops/multiply.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

template <TileShape S>
struct BlockTiled {
  static_assert(S.bm > 0 && S.bn > 0 && S.bk > 0 && S.tm > 0 && S.tn > 0,
                "block_tiled: BM, BN, BK, TM and TN are positive");
  static_assert(S.bm % S.tm == 0 && S.bn % S.tn == 0,
                "block_tiled: TM divides BM and TN divides BN");
  static constexpr int threads = (S.bm / S.tm) * (S.bn / S.tn);
  static_assert(threads <= 1024,
                "block_tiled: a block has BM / TM * BN / TN threads, at most 1024");
  static constexpr const char* name = "block_tiled";
  static constexpr Dim3 block{threads};
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
    const int i = t.thread / (S.bn / S.tn), j = t.thread % (S.bn / S.tn);
    auto acc = zeros<AccumulatorFor<decltype(C)>, S.tm, S.tn>();  // (TM,TN)
    for (index_t k = 0; k < tiles<1>(A, S.bk); ++k) {
      t.superstep("load", [&] {
        copy(t, tile<S.bm, S.bk>(A, t.block.y, k), sA);  // past the edge reads as zero
        copy(t, tile<S.bk, S.bn>(B, k, t.block.x), sB);
      });  // sA and sB are complete
      t.superstep("multiply", [&] {
        // (TM,TN) += (TM,BK) * (BK,TN)
        multiply_accumulate(acc, tile<S.tm, S.bk>(sA, i, 0), tile<S.bk, S.tn>(sB, 0, j));
      });  // sA and sB may be overwritten
    }
    store_tile(gC, i, j, acc);  // (TM,TN) at tile (i,j), skipped past the edge
  }
};

}  // namespace tessera
