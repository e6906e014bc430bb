// Kernel 7: the warps of a block multiply with matrix units. Each warp owns a WM x WN tile of C,
// kept in fragments, and walks through the staged tiles one matrix instruction at a time. Matrix
// units are too fast to wait for memory, so asynchronous copies load tiles into a ring of stages,
// and one is multiplied while the next are in flight. Rows of the staged tiles are padded, so that
// the lanes of a warp, which read elements of several rows, access different banks. B of bytes is
// kept along k, as their units read it.
//
// A is (M,K), B is (K,N), C is (M,N), any strides. f32 inputs are rounded to TF32, so the result
// has a wider bound; sums of f64 are the chain of the other kernels, bit by bit, and sums of bytes
// are exact.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/block_order.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/copy_with.hpp"
#include "tessera/ops/store_fragments.hpp"
#include "tessera/ops/tensor_core.hpp"
#include "tessera/ops/whole_tile.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/transpose.hpp"

namespace tessera {

template <TileShape S>
struct TensorCoreTiled {
  static_assert(S.bm > 0 && S.bn > 0 && S.bk > 0 && S.wm > 0 && S.wn > 0,
                "tensor_core: BM, BN, BK, WM and WN are positive");
  static_assert(S.bm % S.wm == 0 && S.bn % S.wn == 0,
                "tensor_core: WM divides BM and WN divides BN");
  static_assert(S.wm % 16 == 0 && S.wn % 8 == 0 && S.bk % 16 == 0,
                "tensor_core: WM is a multiple of 16, WN of 8, BK of 16, the extents of a matrix "
                "instruction");
  static constexpr int threads = (S.bm / S.wm) * (S.bn / S.wn) * kWarpSize;
  static_assert(threads <= 1024,
                "tensor_core: a block has 32 threads for each warp tile, at most 1024");
  static_assert(
      threads >= S.bk / 4 && threads >= S.bn / 4,
      "tensor_core: a block has a thread for each four elements of a row, of BK and of BN");
  static constexpr const char* name = "tensor_core";
  static constexpr Dim3 block{threads};
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(N, S.bn), ceil_div(M, S.bm));
  }
  template <class T>
  static constexpr int stages = sizeof(T) == 4 ? 2 : 3;
  template <class T>
  static constexpr int width = 16 / static_cast<int>(sizeof(T));  ///< elements of one copy
  /// Elements between two rows of B, and of A: lanes read four or eight rows at once.
  template <class T>
  static constexpr int apart_b = sizeof(T) == 8 ? 4 : 8;
  template <class T>
  static constexpr int apart_a = sizeof(T) == 8 ? 4 : width<T>;
  template <class T>
  static constexpr bool b_along_k = sizeof(T) == 1;  ///< (BN,BK) is staged, not (BK,BN)
  template <class T>
  struct Shared {
    static_assert(
        S.bk % (sizeof(T) == 8   ? 16
                : sizeof(T) == 1 ? 64
                                 : 32) ==
            0,
        "tensor_core: BK is a multiple of 32, two steps of k; for f64 of 16, for bytes of 64");
    Storage<T, Layout{tuple(S.bm, S.bk), tuple(S.bk + apart_a<T>, 1)}> a[stages<T>];
    Storage<T, b_along_k<T> ? Layout{tuple(S.bn, S.bk), tuple(S.bk + apart_a<T>, 1)}
                            : Layout{tuple(S.bk, S.bn), tuple(S.bn + apart_b<T>, 1)}>
        b[stages<T>];
  };

  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    using T = ElementOf<decltype(A)>;
    using Mma = typename DefaultMma<T>::type;
    constexpr MmaShape mma = Mma::shape;
    constexpr int rows = S.wm / mma.m, cols = S.wn / mma.n;  // instructions that cover a warp tile
    constexpr int wide = width<T>, ring = stages<T>;
    auto& stage = shared<Shared<T>>(t);
    const auto at = grouped_block(t.block, t.grid_dim);  // the tile of C that this block computes
    const int depth = static_cast<int>(tiles<1>(A, S.bk));
    const auto tile_of_a = [&](int k, int row) { return tile<S.bm, S.bk>(A, row, k); };
    const auto tile_of_b = [&](int k, int col) {  // (BK,BN) of B, as it is staged
      if constexpr (b_along_k<T>) return tile<S.bn, S.bk>(transpose(B), col, k);
      else return tile<S.bk, S.bn>(B, k, col);
    };
    const bool in_vectors =
        moves_in_vectors<wide>(A) && moves_in_vectors<wide>(tile_of_b(0, at.col));
    // The number of leading tiles that are whole: one test, not one for each tile.
    const bool inside =
        in_vectors && tile_of_a(0, at.row).is_full() && tile_of_b(0, at.col).is_full();
    const int whole = inside ? static_cast<int>(valid<1>(A) / S.bk) : 0;
    constexpr int row_of_b = (b_along_k<T> ? S.bk : S.bn) / wide;
    constexpr Layout by_a = row_major(threads / (S.bk / wide), S.bk / wide);
    constexpr Layout by_b = row_major(threads / row_of_b, row_of_b);
    const auto load_whole = [&](int k, int to) {  // loads tile k of A and B
      copy_async_with<by_a>(t, whole_vectors<wide>(tile_of_a(k, at.row)),
                            vectorize<1, wide>(stage.a[to].view()));  // (BM,BK)
      copy_async_with<by_b>(t, whole_vectors<wide>(tile_of_b(k, at.col)),
                            vectorize<1, wide>(stage.b[to].view()));  // (BK,BN), of bytes (BN,BK)
    };
    const auto load_part = [&](int k, int to) {  // the same, up to the edges
      const auto gA = tile_of_a(opaque(k), opaque(at.row));
      const auto gB = tile_of_b(opaque(k), opaque(at.col));
      const auto sA = stage.a[to].view();
      const auto sB = stage.b[to].view();
      if (in_vectors) {
        copy_async_with<by_a>(t, vectors<wide>(gA), vectorize<1, wide>(sA));
        copy_async_with<by_b>(t, vectors<wide>(gB), vectorize<1, wide>(sB));
      } else {
        copy_async(t, gA, sA);
        copy_async(t, gB, sB);
      }
    };
    TESSERA_NO_UNROLL
    for (int k = 0; k < ring; ++k) {
      if (k < whole) load_whole(k, k);
      else if (k < depth) load_part(k, k);
      commit(t);
    }
    // The warps of one scheduler load by turns: one multiplies while the other loads.
    const bool is_second = threads > 4 * kWarpSize && t.warp / 4 % 2 == 1;

    const int i = t.warp / (S.bn / S.wn), j = t.warp % (S.bn / S.wn);
    typename Mma::FragmentC acc[rows][cols] = {};  // (WM,WN), fragments of (m,n)
    constexpr int steps = S.bk / mma.k;
    // f32 lacks registers for its addresses: B is not loaded ahead.
    constexpr int ahead = sizeof(T) == 4 ? 1 : 2;
    typename Mma::FragmentA a[rows];  // (WM,k) of this step; each row is reloaded when it is used
    typename Mma::FragmentB b[ahead][cols];  // (k,WN) of this step and of the next
    const auto load_a = [&](int from, int step, int r) {
      const auto wA = tile<S.wm, S.bk>(stage.a[from].view(), i, 0);  // (WM,BK), this warp's rows
      a[r] = Mma::load_a(t, tile<mma.m, mma.k>(wA, r, step), AlignedRows{});  // (m,k)
    };
    const auto load_b = [&](int from, int step, int to) {
      const auto sB = [&] {
        if constexpr (b_along_k<T>) return transpose(stage.b[from].view());
        else return stage.b[from].view();
      }();                                         // (BK,BN)
      const auto wB = tile<S.bk, S.wn>(sB, 0, j);  // (BK,WN), this warp's columns
      TESSERA_UNROLL_REGISTERS
      for (int c = 0; c < cols; ++c)
        b[to][c] = Mma::load_b(t, tile<mma.k, mma.n>(wB, step, c), AlignedRows{});  // (k,n)
    };
    wait<ring - 1>(t);  // my copies of tile 0 have arrived
    t.barrier();        // everybody's have
    if (depth > 0) {
      load_b(0, 0, 0);
      TESSERA_UNROLL_REGISTERS
      for (int r = 0; r < rows; ++r) load_a(0, 0, r);
    }
    int now = 0;  // the stage of tile k
    for (int k = 0; k < depth; ++k) {
      TESSERA_UNROLL_REGISTERS
      for (int step = 0; step < steps; ++step) {
        // The next step is in this tile or in the following one; after the last one, operands are
        // loaded again, unused.
        const bool last = step + 1 == steps;
        const int to = last ? 0 : step + 1, done = now;
        if (last) {
          if (k + 1 < depth) now = now + 1 == ring ? 0 : now + 1;
          wait<ring - 2>(t);  // my copies of tile k + 1 have arrived
          t.barrier();  // all threads' copies have, and tile k is in registers: its stage is free
        }
        if (ahead == 2) load_b(now, to, to % 2);
        TESSERA_UNROLL_REGISTERS
        for (int r = 0; r < rows; ++r) {
          TESSERA_UNROLL_REGISTERS
          for (int c = 0; c < cols; ++c) Mma::mma(t, acc[r][c], a[r], b[step % ahead][c]);  // (m,n)
          load_a(now, to, r);
          if (last && k + ring < whole) {
            if (r == 0 && !is_second) load_whole(k + ring, done);
            if (r == rows / 2 && is_second) load_whole(k + ring, done);
          } else if (last && r == 0 && k + ring < depth) {
            load_part(k + ring, done);
          }
          if (last && r + 1 == rows) commit(t);
        }
        if (ahead == 1) load_b(now, to, 0);
      }
    }
    const auto gC = tile<S.bm, S.bn>(C, at.row, at.col);        // (BM,BN), clipped at the edge
    store_by(tile<S.wm, S.wn>(gC, i, j), [&](const auto& wC) {  // (WM,WN), clipped
      store_fragments<Mma>(t, wC, acc);
    });
  }
};

}  // namespace tessera
