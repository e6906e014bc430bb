// After the seven kernels of the ladder: like block_tiled_vectorized, but no thread waits for
// memory. Asynchronous copies load tiles into a ring of stages, and a thread reads the operands of
// the next k from
// shared memory while it multiplies those of this one, also across the barrier between two tiles.
// A is kept along m in shared memory, so that four rows of one k are read at once; A of 16-bit
// elements, which no asynchronous copy scatters, along k, read two at a time. Blocks that run
// at the same time cover a square of C, so that their tiles hit in L2. A is (M,K), B is (K,N), C is
// (M,N), any strides.
//
// Every other instruction costs an issue slot: on Hopper a scheduler issues one warp instruction
// per clock, and the 128 multiply-adds of a thread for each k fill 128 clocks. So whole tiles are
// loaded without bounds checks and with little address arithmetic, rarely used values keep no
// registers, and lanes are numbered so that neighbours read the same elements, which the hardware
// reads once (docs/ladder.md).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "tessera/core/dtype.hpp"
#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/block_order.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/copy_with.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/ops/whole_tile.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

namespace detail {

/// An operand in the type of the sums. nvcc makes one instruction of this text for bf16, five of
/// its conversion.
template <class Sum, class T>
TESSERA_HD constexpr Sum widened(const T& value) {
  if constexpr (std::is_same_v<T, bf16>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
  else return static_cast<Sum>(value);
}

/// Must barriers be outside of branches, even if all threads take the same branch?
template <class Thread>
constexpr bool barriers_stay_outside() {
  if constexpr (requires { std::remove_cvref_t<Thread>::barriers_stay_outside; })
    return std::remove_cvref_t<Thread>::barriers_stay_outside;
  else return false;
}

}  // namespace detail

template <TileShape S>
struct Pipelined {
  static_assert(S.bm > 0 && S.bn > 0 && S.bk > 0 && S.tm > 0 && S.tn > 0,
                "pipelined: BM, BN, BK, TM and TN are positive");
  static_assert(S.bk % 2 == 0, "pipelined: BK is even: two sets of operands alternate");
  static_assert(S.tm % 4 == 0 && S.tn % 4 == 0, "pipelined: TM and TN are multiples of 4");
  static_assert(S.bm % (8 * S.tm) == 0 && S.bn % (4 * S.tn) == 0,
                "pipelined: a warp is 8 x 4 threads: 8 TM divides BM and 4 TN divides BN");
  static constexpr int warps_across = S.bn / (4 * S.tn);
  static constexpr int threads = S.bm / (8 * S.tm) * warps_across * kWarpSize;
  static_assert(threads <= 1024, "pipelined: a block has BM / TM * BN / TN threads, at most 1024");
  static_assert(threads >= S.bk && threads >= S.bn / 4,
                "pipelined: a block has a thread for each of BK elements and for each four of BN");
  static constexpr int stages = 3;
  static constexpr const char* name = "pipelined";
  static constexpr Dim3 block{threads};
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(N, S.bn), ceil_div(M, S.bm));
  }
  template <class T>
  static constexpr bool along_k = sizeof(T) < 4;  ///< how A is kept
  /// Elements of one copy of A, and of B: at most 16 bytes.
  template <class T>
  static constexpr int width_a = along_k<T> ? 16 / static_cast<int>(sizeof(T)) : 1;
  template <class T>
  static constexpr int width_b = 16 / static_cast<int>(sizeof(T));
  template <class T>
  struct Shared {
    static_assert(
        S.bk % width_a<T> == 0 && threads >= S.bn / width_b<T>,
        "pipelined: of elements below 4 bytes BK is a multiple of 16 bytes; of f64 a block "
        "has a thread for each two of BN");
    Storage<T, along_k<T> ? Layout{tuple(S.bm, S.bk), tuple(S.bk + width_a<T>, 1)}
                          : Layout{tuple(S.bm, S.bk), tuple(1, S.bm + 4)}>
        a[stages];
    Tile<T, S.bk, S.bn> b[stages];
  };

  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    using T = ElementOf<decltype(A)>;
    constexpr int wide_a = width_a<T>, wide_b = width_b<T>;
    auto& stage = shared<Shared<T>>(t);
    const auto at = grouped_block(t.block, t.grid_dim);  // the tile of C that this block computes
    const int depth = static_cast<int>(tiles<1>(A, S.bk));
    // The number of leading tiles that are whole: one test, not one for each tile.
    const bool inside = is_whole<wide_a>(tile<S.bm, S.bk>(A, at.row, 0)) &&
                        is_whole<wide_b>(tile<S.bk, S.bn>(B, 0, at.col));
    const int whole = inside ? static_cast<int>(valid<1>(A) / S.bk) : 0;
    const auto load_tile = [&](int k, int to) {  // loads tile k of A and B; nothing past the end
      constexpr Layout by_a = row_major(threads / (S.bk / wide_a), S.bk / wide_a);
      constexpr Layout by_b = row_major(threads / (S.bn / wide_b), S.bn / wide_b);
      const auto sA = stage.a[to].view();  // (BM,BK)
      const auto sB = stage.b[to].view();  // (BK,BN)
      if (k < whole) {
        copy_async_with<by_a>(t, whole_vectors<wide_a>(tile<S.bm, S.bk>(A, at.row, k)),
                              vectorize<1, wide_a>(sA));
        copy_async_with<by_b>(t, whole_vectors<wide_b>(tile<S.bk, S.bn>(B, k, at.col)),
                              vectorize<1, wide_b>(sB));
      } else if (k < depth) {
        const auto gA = tile<S.bm, S.bk>(A, opaque(at.row), k);
        const auto gB = tile<S.bk, S.bn>(B, k, opaque(at.col));
        if (wide_a > 1 && moves_in_vectors<wide_a>(A))
          copy_async_with<by_a>(t, vectors<wide_a>(gA), vectorize<1, wide_a>(sA));
        else copy_async(t, gA, sA);
        if (moves_in_vectors<wide_b>(B))
          copy_async_with<by_b>(t, vectors<wide_b>(gB), vectorize<1, wide_b>(sB));
        else copy_async(t, gB, sB);
      }
      commit(t);
    };
    if constexpr (std::is_same_v<T, float>) {  // then nvcc orders the main loop better
      TESSERA_UNROLL
      for (int k = 0; k < stages; ++k) load_tile(k, k);
    } else {
      TESSERA_NO_UNROLL
      for (int k = 0; k < stages; ++k) load_tile(k, k);
    }

    // A warp owns 8 TM rows and 4 TN columns, of which a lane has every eighth four rows (along k:
    // every eighth row) and every fourth four columns. Lanes 2n and 2n + 1 share rows, lanes that
    // differ in bit 1 columns.
    constexpr int high = along_k<T> ? 1 : 4, deep = along_k<T> ? 2 : 1;  // (high,deep) of A at once
    const int row = t.warp / warps_across * (8 * S.tm) + t.lane / 2 % 8 * high;
    const int col = t.warp % warps_across * (4 * S.tn) + (t.lane % 2 + t.lane / 16 * 2) * 4;
    using Sum = AccumulatorFor<decltype(C)>;
    auto acc = zeros<Sum, S.tm, S.tn>();     // (TM,TN)
    Vec<T, high * deep> as[2][S.tm / high];  // of these and of the next k
    Vec<T, 4> bs[2][S.tn / 4];               // of this k and of the next
    const auto read = [&](int from, int k) {
      const auto a = vectorize<high, deep>(stage.a[from].view());  // (BM/high,BK/deep)
      const auto b = vectorize<1, 4>(stage.b[from].view());        // (BK,BN/4)
      if (k % deep == 0) {
        TESSERA_UNROLL_REGISTERS
        for (int i = 0; i < S.tm / high; ++i) as[k / deep % 2][i] = a(row / high + i * 8, k / deep);
      }
      TESSERA_UNROLL_REGISTERS
      for (int j = 0; j < S.tn / 4; ++j) bs[k % 2][j] = b(k, col / 4 + j * 4);
    };
    wait<stages - 1>(t);  // my copies of tile 0 have arrived
    t.barrier();          // everybody's have
    if (depth > 0) read(0, 0);
    int now = 0;  // the stage of tile k
    const auto advance = [&](int k) {
      const int next = now + 1 == stages ? 0 : now + 1;
      wait<stages - 2>(t);  // my copies of tile k + 1 have arrived
      t.barrier();          // all threads' copies have, and tile k has been read: its stage is free
      if (k + 1 == depth) return;
      read(next, 0);
      load_tile(k + stages, now);
      now = next;
    };
    constexpr bool outside = detail::barriers_stay_outside<decltype(t)>();
    for (int k = 0; k < depth; ++k) {
      TESSERA_UNROLL_REGISTERS
      for (int step = 0; step < S.bk; ++step) {
        if (step + 1 < S.bk) {
          read(now, step + 1);
        } else if (!outside && k + 1 < depth) {
          advance(k);
        }
        Sum a[S.tm];  // of this k, converted once
        TESSERA_UNROLL_REGISTERS
        for (int i = 0; i < S.tm; ++i)
          a[i] = detail::widened<Sum>(as[step / deep % 2][i / high][i % high + step % deep]);
        // Columns in alternating direction: successive multiply-adds share an operand, so each
        // reads two registers instead of three.
        TESSERA_UNROLL_REGISTERS
        for (int j = 0; j < S.tn; ++j) {
          const Sum b = detail::widened<Sum>(bs[step % 2][j / 4][j % 4]);
          TESSERA_UNROLL_REGISTERS
          for (int n = 0; n < S.tm; ++n) {
            const int i = j % 2 == 0 ? n : S.tm - 1 - n;
            acc(i, j) = fma(a[i], b, acc(i, j));
          }
        }
      }
      if (outside) advance(k);
    }
    // With few sums for each thread: values of the epilogue take no registers of the main loop.
    const auto late = [](int value) { return S.tm * S.tn <= 32 ? opaque(value) : value; };
    auto gC = tile<S.bm, S.bn>(C, late(at.row), late(at.col));  // (BM,BN), clipped at the edge
    store_by(gC, [&](const auto& out) {                         // skipped past the edge
      store_each(
          out, acc, [&](int i) { return late(row) + i / high * (8 * high) + i % high; },
          [&](int j) { return col + j / 4 * 16 + j % 4; });
    });
  }
};

}  // namespace tessera
