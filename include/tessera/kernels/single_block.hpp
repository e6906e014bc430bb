// The single-block puzzle, for every size: one block computes all of C. It stages a tile of A and a
// tile of B in shared memory, multiplies, and moves on: first along k, then to the next tile of C.
// A is (M,K), B is (K,N), C is (M,N), any strides. Uses one core: a lesson, not a library.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {

template <TileShape S>
struct SingleBlock {
  static_assert(S.bm > 0 && S.bm == S.bn && S.bm == S.bk,
                "single_block: BM, BN and BK are equal and positive");
  static_assert(S.bm * S.bn <= 1024, "single_block: the block has BM * BN threads, at most 1024");
  static constexpr const char* name = "single_block";
  static constexpr Dim3 block{S.bn, S.bm};
  static constexpr Dim3 grid(index_t M, index_t N) { return {M > 0 && N > 0 ? 1 : 0}; }
  template <class T>
  struct Shared {
    Tile<T, S.bm, S.bk> a;
    Tile<T, S.bk, S.bn> b;
  };

  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    using T = ElementOf<decltype(A)>;
    auto& stage = shared<Shared<T>>(t);
    auto sA = stage.a.view();  // (BM,BK)
    auto sB = stage.b.view();  // (BK,BN)
    const int row = t.thread.y, col = t.thread.x;
    for (index_t i = 0; i < tiles<0>(C, S.bm); ++i) {
      for (index_t j = 0; j < tiles<1>(C, S.bn); ++j) {
        auto acc = zero_of(C);
        for (index_t k = 0; k < tiles<1>(A, S.bk); ++k) {
          auto gA = tile<S.bm, S.bk>(A, i, k);  // (BM,BK), clipped at the edge
          auto gB = tile<S.bk, S.bn>(B, k, j);  // (BK,BN), clipped at the edge
          // Each thread loads one element of each; elements past the edge are zero.
          sA(row, col) = gA.contains(row, col) ? gA(row, col) : T{};
          sB(row, col) = gB.contains(row, col) ? gB(row, col) : T{};
          t.barrier();  // sA and sB are complete
          for (int n = 0; n < S.bk; ++n) acc = fma(sA(row, n), sB(n, col), acc);
          t.barrier();  // sA and sB may be overwritten
        }
        store(tile<S.bm, S.bn>(C, i, j), row, col, acc);  // skipped past the edge
      }
    }
  }
};

}  // namespace tessera
