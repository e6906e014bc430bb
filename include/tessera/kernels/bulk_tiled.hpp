// Like pipelined, for Hopper: tiles are loaded by bulk copies, which one thread starts, so that
// almost all instructions are multiply-adds. A thread reads its operands along m and n. A K-major
// operand is transposed in the block: while tile k is multiplied, each thread transposes a few 4 x
// 4 blocks of tile k + 1.
//
// A is (M,K) and B^T is (N,K) as BulkMatrix, C is (M,N), any strides, with its epilogue. Every
// element of C is one chain of multiply-adds in the order of k.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/block_order.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/ops/plain_tile.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/arithmetic.hpp"

namespace tessera {

namespace detail {

/// The order in which a thread visits its rows and columns of C. It does not change the sums, but
/// nvcc's register allocation: scripts/issue_model.py shows how often multiply-adds wait for
/// register banks.
struct ThreadOrder2d {
  int rows[16], cols[8];
};
inline constexpr ThreadOrder2d kInOrder{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                        {0, 1, 2, 3, 4, 5, 6, 7}};
/// The results of searches: for 16 x 8, the same where both operands are transposed, and for 8 x 4.
inline constexpr ThreadOrder2d kOrder16x8{{0, 1, 2, 3, 5, 7, 4, 6, 12, 14, 15, 13, 8, 9, 10, 11},
                                          {1, 4, 6, 0, 2, 7, 3, 5}};
inline constexpr ThreadOrder2d kTransposedOrder16x8{
    {7, 5, 6, 4, 0, 1, 2, 3, 12, 14, 15, 13, 8, 9, 10, 11}, {1, 4, 6, 0, 2, 7, 3, 5}};
inline constexpr ThreadOrder2d kOrder8x4{{5, 4, 7, 6, 1, 2, 0, 3}, {0, 3, 2, 1}};

/// An operand (MN,K) in a ring of stages.
template <class T, int MN, int K, int Stages, int Threads, Major InMemory>
struct BulkRing {
  using Tile = PlainTile<T, MN, K>;
  struct Rows {};
  static constexpr int steps = 0;
  Tile stage[Stages];

  template <class Thread>
  TESSERA_KERNEL static Rows rows_of(Thread&) {
    return {};
  }
  /// Tile number k, which is in stage `at`, as threads read it.
  TESSERA_HD auto operand(int at, int) { return stage[at].view(); }
  TESSERA_KERNEL void transpose(int, int, Rows&) {}
  TESSERA_KERNEL void transpose_step(int, int, int, Rows&) {}
};
template <class T, int MN, int K, int Stages, int Threads>
struct BulkRing<T, MN, K, Stages, Threads, Major::k> {
  using Tile = UnitTile<T, row_major(MN, K)>;
  static constexpr int width = 4, chunks = K / width;
  static constexpr int rows = Threads / chunks * width;  ///< that all threads transpose at once
  static constexpr int passes = MN / rows;               ///< 4 x 4 blocks of a thread
  /// Each 4 x 4 block takes `each` of the K steps of the loop along k: its loads begin at step
  /// loads_at of these, its stores at step stores_at. The last store is before step `steps` of the
  /// loop.
  static constexpr int each = K / passes, loads_at = each < 16 ? 0 : 1;
  static constexpr int stores_at = each < 16 ? width - 1 : each / 2;
  static constexpr int steps = K - each + stores_at + width;
  static_assert(rows % 8 == 0, "bulk_tiled: the swizzle repeats after eight rows");
  /// Rows of a block that a thread has loaded and not yet stored; where its first block is.
  struct Rows {
    Vec<T, width> of[width];
    int chunk[width], row, col;
  };
  Tile stage[Stages];
  Storage<T, Layout{tuple(MN, K), tuple(1, MN + 4)}> transposed[2];

  TESSERA_HD auto operand(int, int k) { return transposed[k % 2].view(); }

  /// Eight lanes read eight chunks of k from different rows, and write to eight different rows,
  /// both times in different banks. The swizzle costs too many instructions to be computed in the
  /// loop.
  template <class Thread>
  TESSERA_KERNEL static Rows rows_of(Thread& t) {
    constexpr Swizzle swizzle = make_swizzle(Tile::mode, static_cast<int>(sizeof(T)));
    constexpr Layout layout = Tile::layout;
    Rows mine;
    mine.row = opaque((t.warp * 4 + (t.lane / 2 + t.lane / 8) % 4) * width);
    mine.col = opaque(t.lane % 8 * width);
    TESSERA_UNROLL_REGISTERS
    for (int i = 0; i < width; ++i)
      mine.chunk[i] = opaque(static_cast<int>(swizzle(layout(mine.row + i, mine.col)) / width));
    return mine;
  }
  /// Row i of block number `pass`.
  TESSERA_KERNEL void load(int at, int pass, int i, Rows& to) {
    constexpr Layout by_chunks = row_major(MN * chunks, width);
    tell_tile(stage[at]);
    to.of[i] = vectorize<1, width>(Tensor<T*, by_chunks>(stage[at].elements))(
        to.chunk[i] + pass * rows * chunks, 0);
  }
  TESSERA_KERNEL void store(int k, int pass, int i, const Rows& from) {
    vectorize<width, 1>(transposed[k % 2].view())((from.row + pass * rows) / width, from.col + i) =
        Vec<T, width>{{from.of[0][i], from.of[1][i], from.of[2][i], from.of[3][i]}};
  }
  /// All of tile k, which is in stage `at`.
  TESSERA_KERNEL void transpose(int at, int k, Rows& mine) {
    TESSERA_UNROLL_REGISTERS
    for (int pass = 0; pass < passes; ++pass) {
      TESSERA_UNROLL_REGISTERS
      for (int i = 0; i < width; ++i) load(at, pass, i, mine);
      TESSERA_UNROLL_REGISTERS
      for (int i = 0; i < width; ++i) store(k, pass, i, mine);
    }
  }
  /// The part of it for one step of the loop along k; the last step has none.
  TESSERA_KERNEL void transpose_step(int at, int k, int step, Rows& mine) {
    const int pass = step / each, in = step % each;
    if (in >= loads_at && in < loads_at + width) load(at, pass, in - loads_at, mine);
    if (in >= stores_at && in < stores_at + width) store(k, pass, in - stores_at, mine);
  }
};

}  // namespace detail

/// The majors of A and B: contiguous along k, or along m and n.
template <TileShape S, Major A = Major::k, Major B = Major::mn>
struct BulkTiled {
  static_assert(S.bm > 0 && S.bn > 0 && S.tm > 0 && S.tn > 0,
                "bulk_tiled: BM, BN, TM and TN are positive");
  static_assert(S.bk == 32, "bulk_tiled: BK is 32, rows of 128 bytes");
  static_assert(S.tm % 4 == 0 && S.tn % 4 == 0 && S.tm <= 16 && S.tn <= 8,
                "bulk_tiled: TM and TN are multiples of 4, at most 16 and 8");
  static_assert(S.bm % (8 * S.tm) == 0 && S.bn % (4 * S.tn) == 0,
                "bulk_tiled: a warp is 8 x 4 threads: 8 TM divides BM and 4 TN divides BN");
  static constexpr int warps_across = S.bn / (4 * S.tn);
  static constexpr int threads = S.bm / (8 * S.tm) * warps_across * kWarpSize;
  static_assert((A == Major::mn || S.bm * 2 % threads == 0) &&
                    (B == Major::mn || S.bn * 2 % threads == 0),
                "bulk_tiled: threads share out what they transpose by blocks of 4 x 4: a block has "
                "no more than 2 BM or 2 BN");
  static_assert((A == Major::mn || S.bm <= 2 * threads) && (B == Major::mn || S.bn <= 2 * threads),
                "bulk_tiled: a thread transposes at most four blocks of 4 x 4 of a tile");
  static constexpr const char* name = "bulk_tiled";
  static constexpr Dim3 block{threads};
  static constexpr bool needs_sm_90a = true;
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(N, S.bn), ceil_div(M, S.bm));
  }
  /// Resident blocks of a multiprocessor, and the stages that fit into its 227 KiB: a block also
  /// needs memory for its gates, and 1 KiB for CUDA.
  static constexpr int resident = threads >= 256 ? 1 : 2;
  template <class T>
  static constexpr int stages_of() {
    constexpr int size = sizeof(T), room = 226 * 1024 / resident - 1024;
    constexpr int transposed =
        2 * size * S.bk * ((A == Major::k ? S.bm + 4 : 0) + (B == Major::k ? S.bn + 4 : 0));
    constexpr int fitting = (room - transposed) / (size * S.bk * (S.bm + S.bn));
    static_assert(fitting >= 2, "bulk_tiled: two stages fit into shared memory");
    return fitting < 4 ? fitting : 4;
  }
  /// The destination of bulk copies of A and B.
  template <class T>
  using TileA = typename detail::BulkRing<T, S.bm, S.bk, 1, threads, A>::Tile;
  template <class T>
  using TileB = typename detail::BulkRing<T, S.bn, S.bk, 1, threads, B>::Tile;
  template <class T>
  struct Shared {
    static constexpr int stages = stages_of<T>();
    struct Rings {
      detail::BulkRing<T, S.bm, S.bk, stages, threads, A> a;
      detail::BulkRing<T, S.bn, S.bk, stages, threads, B> b;
    };
    union {
      Rings rings;
      Storage<T, Layout{tuple(S.bm, S.bn), tuple(S.bn + 4, 1)}> sums;  // when all is multiplied
    };
    Gate full[stages];
  };

  TESSERA_KERNEL void operator()(auto t, const auto& gA, const auto& gB, const auto& C) const {
    using T = ElementOf<decltype(gA)>;
    constexpr int stages = Shared<T>::stages, width = 4;
    auto& s = shared<Shared<T>>(t);
    auto& a = s.rings.a;
    auto& b = s.rings.b;
    if (t.thread == 0) {
      for (auto& gate : s.full) open_gate(t, gate, 1);
      publish_gates(t);
    }
    t.barrier();
    const auto at = grouped_block(t.block, t.grid_dim);  // the tile of C that this block computes
    const int depth = static_cast<int>(tiles<1>(gA, S.bk));
    const auto load_tile = [&](int k, int to) {  // tile k of A and B, by one thread
      if (t.thread != 0 || k >= depth) return;
      expect(t, s.full[to], bytes_of(a.stage[0], b.stage[0]));
      copy_bulk(t, tile<S.bm, S.bk>(gA, at.row, k), a.stage[to], s.full[to]);  // (BM,BK)
      copy_bulk(t, tile<S.bn, S.bk>(gB, at.col, k), b.stage[to], s.full[to]);  // (BN,BK)
    };
    for (int k = 0; k < stages; ++k) load_tile(k, k);

    // A warp owns 8 TM rows and 4 TN columns, of which a lane has every eighth four rows and every
    // fourth four columns. Lanes 2n and 2n + 1 share rows, lanes that differ in bit 1 columns.
    const int row = opaque(t.warp / warps_across * (8 * S.tm) + t.lane / 2 % 8 * 4);
    const int col = opaque(t.warp % warps_across * (4 * S.tn) + (t.lane % 2 + t.lane / 16 * 2) * 4);
    auto acc = zeros<AccumulatorFor<decltype(C)>, S.tm, S.tn>();  // (TM,TN)
    using Four = Vec<T, width>;
    Four as[2][S.tm / 4], bs[2][S.tn / 4];  // of this k and of the next
    const auto read = [&](int stage, int k, int step, int to) {
      const auto from_a = vectorize<width, 1>(a.operand(stage, k));  // (BM/4,BK)
      const auto from_b = vectorize<width, 1>(b.operand(stage, k));  // (BN/4,BK)
      TESSERA_UNROLL_REGISTERS
      for (int j = 0; j < S.tn / 4; ++j) bs[to][j] = from_b(col / 4 + j * 4, step);
      TESSERA_UNROLL_REGISTERS
      for (int i = 0; i < S.tm / 4; ++i) as[to][i] = from_a(row / 4 + i * 8, step);
    };
    auto rows_a = a.rows_of(t);
    auto rows_b = b.rows_of(t);
    Turn<stages> now;
    if (depth > 0) {
      wait(t, s.full[0], 0);
      a.transpose(0, 0, rows_a);
      b.transpose(0, 0, rows_b);
      t.barrier();
      read(0, 0, 0, 0);
    }
    constexpr bool both = A == Major::k && B == Major::k;
    constexpr detail::ThreadOrder2d order =
        S.tm == 16 && S.tn == 8  ? (both ? detail::kTransposedOrder16x8 : detail::kOrder16x8)
        : S.tm == 8 && S.tn == 4 ? detail::kOrder8x4
                                 : detail::kInOrder;
    // B's steps begin later than A's, so that most have accesses of one of them.
    constexpr int later = both ? S.bk - 1 - std::remove_cvref_t<decltype(b)>::steps : 0;
    TESSERA_NO_UNROLL
    for (int k = 0; k < depth; ++k) {
      Turn<stages> next = now;
      // The last tile is transposed again, unused: cheaper than a test in each step.
      if (k + 1 < depth) {
        next.next();
        wait(t, s.full[next.stage], next.phase);
      }
      TESSERA_UNROLL_REGISTERS
      for (int step = 0; step < S.bk; ++step) {
        if (step + 1 < S.bk) {
          read(now.stage, k, step + 1, (step + 1) % 2);
        } else {
          t.barrier();  // tile k has been read, its stage is free; tile k + 1 is transposed
          load_tile(k + stages, now.stage);
          read(next.stage, k + 1, 0, 0);
        }
        a.transpose_step(next.stage, k + 1, step, rows_a);
        if (step >= later) b.transpose_step(next.stage, k + 1, step - later, rows_b);
        // Rows in alternating direction, so that successive multiply-adds share an operand.
        TESSERA_UNROLL_REGISTERS
        for (int m = 0; m < S.tm; ++m) {
          TESSERA_UNROLL_REGISTERS
          for (int n = 0; n < S.tn; ++n) {
            const int i = order.rows[m], j = order.cols[m % 2 == 0 ? n : S.tn - 1 - n];
            acc(i, j) = fma(as[step % 2][i / 4][i % 4], bs[step % 2][j / 4][j % 4], acc(i, j));
          }
        }
      }
      now = next;
    }
    t.barrier();                                           // no thread reads operands any more
    const auto sums = vectorize<1, width>(s.sums.view());  // (BM,BN/4)
    TESSERA_UNROLL_REGISTERS
    for (int i = 0; i < S.tm; ++i) {
      TESSERA_UNROLL_REGISTERS
      for (int j = 0; j < S.tn; j += 4)
        sums(row + i / 4 * 32 + i % 4, col / 4 + j) =
            Four{{acc(i, j), acc(i, j + 1), acc(i, j + 2), acc(i, j + 3)}};
    }
    t.barrier();
    store_by(tile<S.bm, S.bn>(C, at.row, at.col), [&](const auto& out) {  // clipped at the edge
      TESSERA_NO_UNROLL
      for (int n = t.thread; n < S.bm * S.bn; n += threads) {
        const T sum = s.sums(n / S.bn, n % S.bn);
        store(out, n / S.bn, n % S.bn, sum);  // skipped past the edge
      }
    });
  }
};

}  // namespace tessera
