// Sarek's tiled kernel with supersteps, corrected: three named supersteps, so that no thread
// overwrites a tile that another still reads. (The published page has the barrier after the load
// only: a data race.) A is (M,K), B is (K,N), C is (M,N), any strides.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/tile.hpp"

namespace tessera {

template <TileShape S>
struct SarekTiled {
  static_assert(S.bm > 0 && S.bm == S.bn && S.bm == S.bk,
                "sarek_tiled: BM, BN and BK are equal and positive");
  static_assert(S.bm * S.bn <= 1024, "sarek_tiled: a block has BM * BN threads, at most 1024");
  static constexpr const char* name = "sarek_tiled";
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
    auto& stage = shared<Shared<T>>(t);  // a is (BM,BK), b is (BK,BN)
    const int tx = t.thread.x, ty = t.thread.y;
    auto acc = zero_of(C);
    for (index_t k = 0; k < tiles<1>(A, S.bk); ++k) {
      t.superstep("load_a", [&] {
        auto gA = tile<S.bm, S.bk>(A, t.block.y, k);  // (BM,BK), clipped at the edge
        stage.a(ty, tx) = gA.contains(ty, tx) ? gA(ty, tx) : T{};
      });  // a is complete
      t.superstep("load_b", [&] {
        auto gB = tile<S.bk, S.bn>(B, k, t.block.x);  // (BK,BN), clipped at the edge
        stage.b(ty, tx) = gB.contains(ty, tx) ? gB(ty, tx) : T{};
      });  // b is complete
      t.superstep("compute", [&] {
        for (int i = 0; i < S.bk; ++i) acc = fma(stage.a(ty, i), stage.b(i, tx), acc);
      });  // a and b may be overwritten
    }
    store(tile<S.bm, S.bn>(C, t.block.y, t.block.x), ty, tx, acc);  // skipped past the edge
  }
};

}  // namespace tessera
