// Kernel 6: as block_tiled, with wide memory accesses: A and B are loaded four elements at a time
// (f64: two), and A is kept column-major in shared memory so that a thread's TM elements of one k
// are contiguous. A is (M,K), B is (K,N), C is (M,N), any strides; where strides or alignment
// forbid wide loads, a tile is copied element by element.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/ops/multiply.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

template <TileShape S>
struct BlockTiledVectorized {
  static_assert(S.bm > 0 && S.bn > 0 && S.bk > 0 && S.tm > 0 && S.tn > 0,
                "block_tiled_vectorized: BM, BN, BK, TM and TN are positive");
  static_assert(S.bm % S.tm == 0 && S.bn % S.tn == 0,
                "block_tiled_vectorized: TM divides BM and TN divides BN");
  static_assert(S.bk % 4 == 0 && S.bn % 4 == 0,
                "block_tiled_vectorized: BK and BN are multiples of the width 4");
  static constexpr int threads = (S.bm / S.tm) * (S.bn / S.tn);
  static_assert(threads <= 1024,
                "block_tiled_vectorized: a block has BM / TM * BN / TN threads, at most 1024");
  static constexpr const char* name = "block_tiled_vectorized";
  static constexpr Dim3 block{threads};
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(N, S.bn), ceil_div(M, S.bm));
  }
  static constexpr int across = S.bn / S.tn % 4 == 0 ? 4 : S.bn / S.tn;
  /// Two blocks of 256 threads on a multiprocessor: while one waits for memory, or at a barrier,
  /// the other multiplies. A thread then has 128 registers, which suffice without spills; without
  /// the limit ptxas (CUDA 13.0) uses more, and one block has the multiprocessor alone and stalls.
  /// No limit for f64, nor for blocks of 64 threads, which would spill; five such blocks fit
  /// anyway.
  template <class T>
  static constexpr int resident() {
    return sizeof(T) <= 4 && S.tm * S.tn <= 64 && threads == 256 ? 2 : 1;
  }
  template <class T>
  struct Shared {
    Storage<T, col_major(S.bm, S.bk)> a;
    Tile<T, S.bk, S.bn> b;
  };

  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    using T = ElementOf<decltype(A)>;
    constexpr int width = sizeof(T) <= 4 ? 4 : 2;  // elements in one load, at most 16 bytes
    auto& stage = shared<Shared<T>>(t);
    auto sA = stage.a.view();                             // (BM,BK):(1,BM)
    auto sB = stage.b.view();                             // (BK,BN):(BN,1)
    auto gC = tile<S.bm, S.bn>(C, t.block.y, t.block.x);  // (BM,BN), clipped at the edge
    // Thread tile (i,j) of C, numbered row by row in strips of four columns: a warp covers 8 x 4 of
    // them, and its lanes read from different banks. As 2 x 16, vectors of B, 32 bytes apart, would
    // conflict in pairs.
    const int i = t.thread / across % (S.bm / S.tm);
    const int j = t.thread / (across * (S.bm / S.tm)) * across + t.thread % across;
    auto acc = zeros<AccumulatorFor<decltype(C)>, S.tm, S.tn>();  // (TM,TN)
    for (index_t k = 0; k < tiles<1>(A, S.bk); ++k) {
      t.superstep("load", [&] {
        // A along k, scattered into the columns of sA; past the edge reads as zero.
        copy_vectorized<width>(t, tile<S.bm, S.bk>(A, t.block.y, k), sA);
        copy_vectorized<width>(t, tile<S.bk, S.bn>(B, k, t.block.x), sB);
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
