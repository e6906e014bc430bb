// The tiled puzzle by hand: as tiled, in index arithmetic instead of tile views. Each thread
// computes the row and column of C that are its own, loads one element of A and one of B at each
// step, and guards each access itself: three conditions that a clipped tile would know. A is (M,K),
// B is (K,N), C is (M,N), any strides.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera {

template <TileShape S>
struct TiledByHand {
  static_assert(S.bm > 0 && S.bm == S.bn && S.bm == S.bk,
                "tiled_by_hand: BM, BN and BK are equal and positive");
  static_assert(S.bm * S.bn <= 1024, "tiled_by_hand: a block has BM * BN threads, at most 1024");
  static constexpr const char* name = "tiled_by_hand";
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
    using T = ElementOf<decltype(A)>;
    auto& stage = shared<Shared<T>>(t);
    auto sA = stage.a.view();  // (BM,BK)
    auto sB = stage.b.view();  // (BK,BN)
    const index_t M = extent<0>(A), K = extent<1>(A), N = extent<1>(B);
    const int y = t.thread.y, x = t.thread.x;           // in the tiles
    const index_t row = index_t{t.block.y} * S.bm + y;  // in A and C
    const index_t col = index_t{t.block.x} * S.bn + x;  // in B and C
    auto acc = zero_of(C);
    for (index_t k = 0; k < K; k += S.bk) {
      sA(y, x) = row < M && k + x < K ? A(row, k + x) : T{};
      sB(y, x) = k + y < K && col < N ? B(k + y, col) : T{};
      t.barrier();  // sA and sB are complete
      for (int i = 0; i < S.bk; ++i) acc = fma(sA(y, i), sB(i, x), acc);
      t.barrier();  // sA and sB may be overwritten
    }
    if (row < M && col < N) store(C, row, col, acc);
  }
};

}  // namespace tessera
