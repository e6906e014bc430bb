// Kernel 4: as tiled, but a thread owns TM elements of one column of C in registers: every element
// of B that it reads from shared memory is used TM times. A is (M,K), B is (K,N), C is (M,N), any
// strides.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/ops/multiply.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

template <TileShape S>
struct TiledRegister {
  static_assert(S.bm > 0 && S.bn > 0 && S.bk > 0 && S.tm > 0,
                "tiled_register: BM, BN, BK and TM are positive");
  static_assert(S.tn <= 1, "tiled_register: TN is 1: a thread owns elements of one column");
  static_assert(S.bm % S.tm == 0, "tiled_register: TM divides BM");
  static constexpr int threads = S.bm / S.tm * S.bn;
  static_assert(threads <= 1024, "tiled_register: a block has BM / TM * BN threads, at most 1024");
  static constexpr const char* name = "tiled_register";
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
    auto sA = stage.a.view();                                  // (BM,BK)
    auto sB = stage.b.view();                                  // (BK,BN)
    auto gC = tile<S.bm, S.bn>(C, t.block.y, t.block.x);       // (BM,BN), clipped at the edge
    const int rows = t.thread / S.bn, col = t.thread % S.bn;   // which TM rows, which column
    auto acc = zeros<AccumulatorFor<decltype(C)>, S.tm, 1>();  // (TM,1)
    for (index_t k = 0; k < tiles<1>(A, S.bk); ++k) {
      t.superstep("load", [&] {
        copy(t, tile<S.bm, S.bk>(A, t.block.y, k), sA);  // past the edge reads as zero
        copy(t, tile<S.bk, S.bn>(B, k, t.block.x), sB);
      });  // sA and sB are complete
      t.superstep("multiply", [&] {
        // (TM,1) += (TM,BK) * (BK,1)
        multiply_accumulate(acc, tile<S.tm, S.bk>(sA, rows, 0), tile<S.bk, 1>(sB, 0, col));
      });  // sA and sB may be overwritten
    }
    store_tile(gC, rows, col, acc);  // (TM,1) at tile (rows,col), skipped past the edge
  }
};

}  // namespace tessera
