// Beyond the seven: as block_tiled_vectorized, but nobody waits for memory. Tiles come by
// asynchronous copies into a ring of stages, two tiles ahead of the one that is multiplied, with
// one barrier for each; a thread reads the operands of the next steps from shared memory while it
// multiplies those of this one. A stays as it lies, (BM,BK) along k, under a swizzle that lets the
// lanes of a warp read four k of different rows without bank conflicts. Blocks that run at one time
// form a square of C, so that L2 serves their tiles. A is (M,K), B is (K,N), C is (M,N), any
// strides.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/block_order.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/copy_with.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/swizzled.hpp"

namespace tessera {

template <TileShape S>
struct Pipelined {
  static_assert(S.bm > 0 && S.bn > 0 && S.bk > 0 && S.tm > 0 && S.tn > 0,
                "pipelined: BM, BN, BK, TM and TN are positive");
  static_assert(S.bk == 16,
                "pipelined: BK is 16, four vectors of four, which the swizzle permutes");
  static_assert(S.tm % 4 == 0 && S.tn % 4 == 0, "pipelined: TM and TN are multiples of 4");
  static_assert(S.bm % (4 * S.tm) == 0 && S.bn % (8 * S.tn) == 0,
                "pipelined: a warp is 4 x 8 threads: 4 TM divides BM and 8 TN divides BN");
  static constexpr int warps_across = S.bn / (8 * S.tn);
  static constexpr int threads = S.bm / (4 * S.tm) * warps_across * kWarpSize;
  static_assert(threads <= 1024, "pipelined: a block has BM / TM * BN / TN threads, at most 1024");
  static constexpr int stages = 3, width = 4;
  static constexpr const char* name = "pipelined";
  static constexpr Dim3 block{threads};
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(N, S.bn), ceil_div(M, S.bm));
  }
  /// Elements row * 16 + k: the vector along k of which a lane's row has number row / 4 % 4 first.
  static constexpr Swizzle turn{2, 2, 4};
  template <class T>
  struct Shared {
    Tile<T, S.bm, S.bk> a[stages];
    Tile<T, S.bk, S.bn> b[stages];
  };

  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    using T = ElementOf<decltype(A)>;
    auto& stage = shared<Shared<T>>(t);
    const auto at = grouped_block(t.block, t.grid_dim);  // which tile of C this block computes
    const index_t depth = tiles<1>(A, S.bk);
    const auto fetch = [&](index_t k) {  // tile k of A and B into its stage; past the end nothing
      if (k < depth) {
        constexpr Layout by_a = row_major(threads / (S.bk / width), S.bk / width);
        constexpr Layout by_b = row_major(threads / (S.bn / width), S.bn / width);
        copy_async_with<by_a, width>(t, tile<S.bm, S.bk>(A, at.row, k),
                                     swizzled<turn>(stage.a[k % stages].view()));
        copy_async_with<by_b, width>(t, tile<S.bk, S.bn>(B, k, at.col), stage.b[k % stages].view());
      }
      commit(t);
    };
    TESSERA_UNROLL
    for (int k = 0; k < stages - 1; ++k) fetch(k);

    // This thread's first row and column; the others follow in steps of 16 rows and 32 columns.
    const int row = t.warp / warps_across * (4 * S.tm) + t.lane / 8 * 4;
    const int col = t.warp % warps_across * (8 * S.tn) + t.lane % 8 * 4;
    auto acc = zeros<AccumulatorFor<decltype(C)>, S.tm, S.tn>();  // (TM,TN)
    for (index_t k = 0; k < depth; ++k) {
      wait<stages - 2>(t);  // my copies of tile k have arrived
      t.barrier();          // everybody's have, and tile k - 1 is multiplied: its stage is free
      fetch(k + stages - 1);
      multiply(acc, vectorize<1, width>(swizzled<turn>(stage.a[k % stages].view())),
               vectorize<1, width>(stage.b[k % stages].view()), row, col);
    }
    auto gC = tile<S.bm, S.bn>(C, at.row, at.col);  // (BM,BN), clipped at the edge
    TESSERA_UNROLL_REGISTERS
    for (int i = 0; i < S.tm; ++i) {
      TESSERA_UNROLL_REGISTERS
      for (int j = 0; j < S.tn; ++j) {
        const AccumulatorFor<decltype(C)> sum = acc(i, j);
        store(gC, row + row_of(i), col + col_of(j), sum);  // skipped past the edge
      }
    }
  }

 private:
  /// Row i and column j of a thread's tile, from its first.
  static constexpr int row_of(int i) { return i / 4 * 16 + i % 4; }
  static constexpr int col_of(int j) { return j / 4 * 32 + j % 4; }

  /// acc (TM,TN) += a (BM,BK/4) * b (BK,BN/4), vectors of four: this thread's rows and columns.
  template <class Acc, class A, class B>
  static TESSERA_KERNEL void multiply(Acc& acc, const A& a, const B& b, int row, int col) {
    using Four = typename A::value;
    Four as[2][S.tm], bs[2][S.tn / 4];  // of this step and of the next
    const auto read_a = [&](int q) {    // four k of each row
      TESSERA_UNROLL_REGISTERS
      for (int i = 0; i < S.tm; ++i) as[q % 2][i] = a(row + row_of(i), q);
    };
    const auto read_b = [&](int k) {
      TESSERA_UNROLL_REGISTERS
      for (int j = 0; j < S.tn / 4; ++j) bs[k % 2][j] = b(k, col / 4 + j * 8);
    };
    read_a(0), read_b(0);
    TESSERA_UNROLL_REGISTERS
    for (int k = 0; k < S.bk; ++k) {
      if (k % 4 == 0 && k + 4 < S.bk) read_a(k / 4 + 1);
      if (k + 1 < S.bk) read_b(k + 1);
      TESSERA_UNROLL_REGISTERS
      for (int i = 0; i < S.tm; ++i) {
        TESSERA_UNROLL_REGISTERS
        for (int j = 0; j < S.tn; ++j)
          acc(i, j) = fma(as[k / 4 % 2][i][k % 4], bs[k % 2][j / 4][j % 4], acc(i, j));
      }
    }
  }
};

}  // namespace tessera
