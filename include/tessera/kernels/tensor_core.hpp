// Kernel 7: the warps of a block multiply with matrix units. A block stages tiles as before; each
// warp owns a WM x WN tile of C, kept in fragments, and walks through the staged tiles one matrix
// instruction at a time. A is (M,K), B is (K,N), C is (M,N), any strides. f32 inputs are rounded to
// TF32, so the result has a wider bound.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/tensor_core.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

template <TileShape S>
struct TensorCoreTiled {
  static_assert(S.bm > 0 && S.bn > 0 && S.bk > 0 && S.wm > 0 && S.wn > 0,
                "tensor_core: BM, BN, BK, WM and WN are positive");
  static_assert(S.bm % S.wm == 0 && S.bn % S.wn == 0,
                "tensor_core: WM divides BM and WN divides BN");
  static_assert(S.wm % 16 == 0 && S.wn % 8 == 0 && S.bk % 16 == 0,
                "tensor_core: WM is a multiple of 16, WN of 8 and BK of 16, the extents of a "
                "matrix instruction");
  static constexpr int threads = (S.bm / S.wm) * (S.bn / S.wn) * kWarpSize;
  static_assert(threads <= 1024,
                "tensor_core: a block has 32 threads for each warp tile, at most 1024");
  static constexpr const char* name = "tensor_core";
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
    using T = ElementOf<decltype(A)>;
    using Mma = typename DefaultMma<T>::type;
    constexpr MmaShape mma = Mma::shape;
    constexpr int rows = S.wm / mma.m, cols = S.wn / mma.n;  // instructions that cover a warp tile
    auto& stage = shared<Shared<T>>(t);
    auto sA = stage.a.view();  // (BM,BK)
    auto sB = stage.b.view();  // (BK,BN)
    const int i = t.warp / (S.bn / S.wn), j = t.warp % (S.bn / S.wn);
    auto wA = tile<S.wm, S.bk>(sA, i, 0);          // (WM,BK), this warp's rows
    auto wB = tile<S.bk, S.wn>(sB, 0, j);          // (BK,WN), this warp's columns
    typename Mma::FragmentC acc[rows][cols] = {};  // (WM,WN), fragments of (m,n)
    for (index_t k = 0; k < tiles<1>(A, S.bk); ++k) {
      t.superstep("load", [&] {
        copy(t, tile<S.bm, S.bk>(A, t.block.y, k), sA);  // past the edge reads as zero
        copy(t, tile<S.bk, S.bn>(B, k, t.block.x), sB);
      });  // sA and sB are complete
      t.superstep("multiply", [&] {
        TESSERA_UNROLL_REGISTERS
        for (int step = 0; step < S.bk / mma.k; ++step) {
          typename Mma::FragmentB b[cols];  // (k,WN), fragments of (k,n)
          TESSERA_UNROLL_REGISTERS
          for (int c = 0; c < cols; ++c)
            b[c] = Mma::load_b(t, tile<mma.k, mma.n>(wB, step, c));  // (k,n)
          TESSERA_UNROLL_REGISTERS
          for (int r = 0; r < rows; ++r) {
            const auto a = Mma::load_a(t, tile<mma.m, mma.k>(wA, r, step));  // (m,k)
            TESSERA_UNROLL_REGISTERS
            for (int c = 0; c < cols; ++c) Mma::mma(t, acc[r][c], a, b[c]);  // (m,n)
          }
        }
      });  // sA and sB may be overwritten
    }
    auto gC = tile<S.bm, S.bn>(C, t.block.y, t.block.x);  // (BM,BN), clipped at the edge
    auto wC = tile<S.wm, S.wn>(gC, i, j);                 // (WM,WN), clipped
    TESSERA_UNROLL_REGISTERS
    for (int r = 0; r < rows; ++r) {
      TESSERA_UNROLL_REGISTERS
      for (int c = 0; c < cols; ++c)
        Mma::store_d(t, tile<mma.m, mma.n>(wC, r, c), acc[r][c]);  // (m,n), skipped past the edge
    }
  }
};

}  // namespace tessera
