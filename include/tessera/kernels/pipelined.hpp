// Beyond the seven: as block_tiled_vectorized, but nobody waits for memory. Tiles come by
// asynchronous copies into a ring of stages, two tiles ahead of the one that is multiplied, with
// one barrier for each; a thread reads the operands of the next steps from shared memory while it
// multiplies those of this one. A stays as it lies, (BM,BK) along k, under a swizzle that lets the
// lanes of a warp read four k of different rows without bank conflicts. Blocks that run at one time
// form a square of C, so that L2 serves their tiles. A is (M,K), B is (K,N), C is (M,N), any
// strides.
//
// What is not a multiply-add costs its time: on Hopper a warp issues one instruction in each clock,
// and 64 multiply-adds of a thread for each k fill 64. So the fetching of whole tiles asks nothing
// and computes next to nothing, and lanes are numbered so that neighbours read the same elements,
// which the hardware then reads once (docs/ladder.md).
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/block_order.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/copy_with.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/ops/whole_tile.hpp"
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
  static_assert(S.bm % (8 * S.tm) == 0 && S.bn % (4 * S.tn) == 0,
                "pipelined: a warp is 8 x 4 threads: 8 TM divides BM and 4 TN divides BN");
  static constexpr int warps_across = S.bn / (4 * S.tn);
  static constexpr int threads = S.bm / (8 * S.tm) * warps_across * kWarpSize;
  static_assert(threads <= 1024, "pipelined: a block has BM / TM * BN / TN threads, at most 1024");
  static constexpr int stages = 3, width = 4;
  static constexpr const char* name = "pipelined";
  static constexpr Dim3 block{threads};
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(N, S.bn), ceil_div(M, S.bm));
  }
  /// Elements row * 16 + k: the vector along k of which a row has number row / 2 % 4 first, so that
  /// the same vector of eight rows lies in all 32 banks.
  static constexpr Swizzle turn{2, 2, 3};
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
    // So many tiles, from the first, are whole: asked once, not for each of them.
    const bool inside = is_whole<width>(tile<S.bm, S.bk>(A, at.row, 0)) &&
                        is_whole<width>(tile<S.bk, S.bn>(B, 0, at.col));
    const index_t whole = inside ? valid<1>(A) / S.bk : 0;
    const auto fetch = [&](index_t k, int to) {  // tile k of A and B; past the end nothing
      constexpr Layout by_a = row_major(threads / (S.bk / width), S.bk / width);
      constexpr Layout by_b = row_major(threads / (S.bn / width), S.bn / width);
      const auto sA = swizzled<turn>(stage.a[to].view());  // (BM,BK)
      const auto sB = stage.b[to].view();                  // (BK,BN)
      const auto gA = tile<S.bm, S.bk>(A, at.row, k);
      const auto gB = tile<S.bk, S.bn>(B, k, at.col);
      if (k < whole) {
        copy_async_with<by_a>(t, whole_vectors<width>(gA), vectorize<1, width>(sA));
        copy_async_with<by_b>(t, whole_vectors<width>(gB), vectorize<1, width>(sB));
      } else if (k < depth) {
        copy_async_with<by_a, width>(t, gA, sA);
        copy_async_with<by_b, width>(t, gB, sB);
      }
      commit(t);
    };
    TESSERA_UNROLL
    for (int k = 0; k < stages - 1; ++k) fetch(k, k);

    // Rows come in bands of 8, one for each i of a thread, columns in steps of 16. Lanes 2n and
    // 2n + 1 share a row, lanes that differ in bit 1 a column.
    const int band = t.warp / warps_across * S.tm, row = t.lane / 2 % 8;
    const int col = t.warp % warps_across * (4 * S.tn) + (t.lane % 2 + t.lane / 16 * 2) * 4;
    auto acc = zeros<AccumulatorFor<decltype(C)>, S.tm, S.tn>();  // (TM,TN)
    int now = 0;                                                  // the stage of tile k
    for (index_t k = 0; k < depth; ++k) {
      wait<stages - 2>(t);  // my copies of tile k have arrived
      t.barrier();          // everybody's have, and tile k - 1 is multiplied: its stage is free
      fetch(k + stages - 1, now == 0 ? stages - 1 : now - 1);
      multiply(acc, stage.a[now].view(), stage.b[now].view(), band, row, col);
      now = now + 1 == stages ? 0 : now + 1;
    }
    auto gC = tile<S.bm, S.bn>(C, at.row, at.col);  // (BM,BN), clipped at the edge
    TESSERA_UNROLL_REGISTERS
    for (int i = 0; i < S.tm; ++i) {
      TESSERA_UNROLL_REGISTERS
      for (int j = 0; j < S.tn; ++j) {
        const AccumulatorFor<decltype(C)> sum = acc(i, j);
        store(gC, (band + i) * 8 + row, col + j / 4 * 16 + j % 4, sum);  // skipped past the edge
      }
    }
  }

 private:
  /// acc (TM,TN) += a (BM,BK) * b (BK,BN): row `row` of TM bands of a, four columns of b and those
  /// 16 beside. The swizzle of a band is that of every other: one offset serves all.
  template <class Acc, class A, class B>
  static TESSERA_KERNEL void multiply(Acc& acc, const A& a, const B& b, int band, int row,
                                      int col) {
    using Four = Vec<typename A::value, width>;
    Four as[2][S.tm], bs[2][S.tn / 4];  // of this step and of the next
    const auto read_a = [&](int q) {    // four k of each row
      TESSERA_UNROLL_REGISTERS
      for (int i = 0; i < S.tm; ++i) {
        const auto rows = tile<8, S.bk>(a, band + i, 0);
        as[q % 2][i] = vectorize<1, width>(swizzled<turn>(rows))(row, q);
      }
    };
    const auto read_b = [&](int k) {
      TESSERA_UNROLL_REGISTERS
      for (int j = 0; j < S.tn / 4; ++j) bs[k % 2][j] = vectorize<1, width>(b)(k, col / 4 + j * 4);
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
