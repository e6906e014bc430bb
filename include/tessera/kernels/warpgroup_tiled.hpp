// The fastest kernel for Hopper (sm_90a): consumer warpgroups multiply by wgmma with operands in
// shared memory, and a producer warp keeps bulk copies in flight. A block computes tile after tile
// of C (persistent). It loads the next tile while the sums of the previous one are stored. Where a
// warpgroup owns whole tiles (WM = BM, WN = BN), two of them take
// turns: one stores while the other multiplies; else they share each tile by its rows.
//
// The blocks of a cluster compute tiles of C that are neighbours: `down` rows of tiles by `across`
// columns. Each of the `across` blocks that need the same tile of A loads a part of it into all of
// them (multicast); so do the `down` blocks that need the same tile of B. Sums are the same bits as
// without a cluster.
//
// A is (M,K) and B^T is (N,K) as BulkMatrix, either mode contiguous; C is (M,N), any strides, with
// its epilogue; `slices` is C again, for bulk stores, where C has no epilogue
// (ops/warpgroup_store.hpp). f32 inputs are rounded to TF32. Units keep 13 bits of sums of f8: what
// they sum of one tile along K is added in f32 by the threads.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/block_order.hpp"
#include "tessera/ops/warpgroup.hpp"
#include "tessera/ops/warpgroup_store.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

/// Several products in one launch. Batches: matrices of one shape, so many rows apart. A split K:
/// of the same matrices, each part of K so long; SumParts adds up what they leave.
struct ProductSeries {
  int count = 1;
  int a_rows = 0, b_rows = 0;  ///< from one to the next, in rows of A and of B^T
  int along_k = 0;             ///< K of a part, a multiple of the depth of a tile; 0: all
  index_t c = 0;               ///< elements of C
};

enum class Products { one, series };

/// Stages: tiles in flight; 0: as many as fit.
template <TileShape S, ClusterShape Together = cluster_of(S), int Stages = 0,
          Products How = Products::one>
struct WarpgroupTiled {
  static_assert(S.bm > 0 && S.bn > 0 && S.wm > 0 && S.wn == S.bn && S.wm % 64 == 0,
                "warpgroup: WN = BN, and WM is a multiple of 64");
  static_assert(S.bn % 8 == 0 && S.bn <= 256 && S.wm * S.bn <= 192 * kWarpgroupThreads,
                "warpgroup: BN is a multiple of 8 up to 256, and a thread has at most 192 sums");
  static_assert(S.wm == S.bm || 2 * S.wm == S.bm,
                "warpgroup: two warpgroups share a tile by its rows, or own whole tiles by turns");
  static_assert(Together.down >= 1 && Together.across >= 1 &&
                    (Together.across == 1 || S.bm % (64 * Together.across) == 0) &&
                    (Together.down == 1 || S.bn % (64 * Together.down) == 0),
                "warpgroup: blocks of a cluster load 64 rows of A each, or 64 columns of B, or "
                "multiples");
  static constexpr bool by_turns = S.wm == S.bm;
  static constexpr int warpgroups = 2, loader = warpgroups;
  static constexpr const char* name = "warpgroup";
  /// With very many sums, the producer warps, then four, release registers to the others.
  static constexpr bool lends = S.wm * S.wn > 128 * kWarpgroupThreads;
  static constexpr int loaders = lends ? kWarpgroupThreads : kWarpSize;
  static constexpr int few = 40, many = 232;  ///< together those of a multiprocessor
  static constexpr Dim3 block{warpgroups * kWarpgroupThreads + loaders};
  static constexpr bool needs_sm_90a = true, starts_early = true;
  static constexpr int down = Together.down, across = Together.across, blocks = down * across;
  static constexpr Dim3 cluster{blocks};
  /// One block per multiprocessor, in clusters, at most one per tile.
  static constexpr Dim3 grid(index_t M, index_t N, int multiprocessors = 132) {
    const index_t groups = ceil_div(M, S.bm * down) * ceil_div(N, S.bn * across);
    const index_t most = multiprocessors < blocks ? 1 : multiprocessors / blocks;
    return grid_of(name, (groups < most ? groups : most) * blocks);
  }
  template <class T>
  static constexpr int depth = 128 / static_cast<int>(sizeof(T));  ///< BK: rows of 128 bytes
  /// Are the unit's sums too coarse for more than one tile along K?
  template <class T>
  static constexpr bool promotes = sizeof(T) == 1 && !std::is_integral_v<T>;
  template <class T>
  using TileA = OperandTile<T, S.bm, depth<T>>;
  template <class T>
  using TileB = OperandTile<T, S.bn, depth<T>>;
  /// The part of a tile that one block loads: of A for the blocks in its row of the cluster, of B
  /// for those in its column.
  template <class T>
  using LoadA = OperandTile<T, S.bm / across, depth<T>>;
  template <class T>
  using LoadB = OperandTile<T, S.bn / down, depth<T>>;
  /// As many as fit into the 227 KiB of a block, besides the slices and the gates.
  static constexpr int fitting =
      (226 * 1024 - warpgroups * 2 * kSliceBytes) / ((S.bm + S.bn) * 128);
  static constexpr int stages = Stages > 0 ? Stages : fitting < 8 ? fitting : 8;
  static_assert(stages >= 2 && stages <= fitting,
                "warpgroup: from two stages to as many as fit into 226 KiB");
  ProductSeries series{};
  template <class T>
  struct Shared {
    TileA<T> a[stages];
    TileB<T> b[stages];
    Slice slices[warpgroups][2];
    Gate full[stages], free[stages], turns[warpgroups];
  };

  TESSERA_KERNEL void operator()(auto t, const auto& gA, const auto& gB, const auto& slices,
                                 const auto& C) const {
    using T = ElementOf<decltype(gA)>;
    using Unit = WarpgroupUnit<AccumulatorFor<decltype(C)>, T, T, S.wm, S.wn>;
    static_assert(!promotes<T> || S.wm * S.wn <= 64 * kWarpgroupThreads,
                  "warpgroup: of f8 a thread has two times at most 64 sums");
    auto& s = shared<Shared<T>>(t);
    const int group = t.warpgroup();
    open_gates(t, s.full, s.free, (by_turns ? 1 : warpgroups) * (down + across - 1));
    if (t.thread == 0) {
      for (auto& turn : s.turns) open_gate(t, turn, 1);
      publish_gates(t);
    }
    let_next_start(t);
    meet_all(t);  // all gates are open
    const int rank = blocks > 1 ? t.cluster_rank() : 0;
    // This block's tile among those that a cluster computes at the same time.
    const int row_of = rank / across, col_of = rank % across;
    const unsigned beside = ((1u << across) - 1) << row_of * across, below = first_column << col_of;
    const Dim3 groups_of_c{static_cast<int>(ceil_div(valid<1>(C), S.bn * across)),
                           static_cast<int>(ceil_div(valid<0>(C), S.bm * down))};
    constexpr bool is_one = How == Products::one;
    const int of_each = static_cast<int>(volume(groups_of_c)),
              count = is_one ? of_each : of_each * series.count;
    const int step = t.grid_dim.x / blocks, first_group = t.block.x / blocks;
    const int K = static_cast<int>(valid<1>(gA));
    const auto which_of = [&](int n) { return is_one ? 0 : n / of_each; };
    const auto k_tiles_of = [&](int n) {
      const int left = is_one ? K : K - which_of(n) * series.along_k, part = series.along_k;
      const int own = is_one || part == 0 || part > left ? left : part;
      return own > 0 ? (own + depth<T> - 1) / depth<T> : 0;
    };
    const auto tile_at = [&](int n) {
      const int own = is_one ? n : n % of_each;
      const TileAt at = grouped_block(Position{0, 0, 0, own}, groups_of_c);
      return TileAt{at.row * down + row_of, at.col * across + col_of};
    };
    Turn<stages> turn;
    if (group == loader) {
      if constexpr (lends) fewer_registers<few>(t);
      if (t.thread == warpgroups * kWarpgroupThreads) {
        wait_for_previous(t);
        for (int n = first_group; n < count; n += step) {
          const TileAt at = tile_at(n);
          const int k_tiles = k_tiles_of(n), which = which_of(n);
          TESSERA_NO_UNROLL
          for (int k = 0; k < k_tiles; ++k, turn.next()) {
            wait(t, s.free[turn.stage], turn.before());  // this stage has been read
            Gate& full = s.full[turn.stage];
            expect(t, full, TileA<T>::bytes + TileB<T>::bytes);
            const int from_k = which * series.along_k + k * depth<T>;
            load<across>(t, gA, which * series.a_rows + at.row * S.bm, from_k, s.a[turn.stage],
                         full, col_of, beside);  // (BM,BK)
            load<down>(t, gB, which * series.b_rows + at.col * S.bn, from_k, s.b[turn.stage], full,
                       row_of, below);  // (BN,BK)
          }
        }
      }
      leave(t);
      return;
    }
    if constexpr (lends) more_registers<many>(t);
    const bool leads = t.thread % kWarpgroupThreads == 0;
    const int mine = by_turns ? 0 : group;  // the rows of a tile
    if (by_turns && group == 0 && leads) arrive(t, s.turns[0]);
    if (by_turns && group == 1) turn.skip(k_tiles_of(first_group));
    unsigned phase = 0;  // of this warpgroup's turns
    bool first = true;
    const int from = first_group + (by_turns ? group * step : 0);
    for (int n = from; n < count; n += by_turns ? warpgroups * step : step) {
      const TileAt at = tile_at(n);
      const int k_tiles = k_tiles_of(n);
      typename Unit::Fragment acc, one;  // (WM,BN); one: of f8, the sums of one tile along K
      if (promotes<T>) acc = {};
      if (by_turns && k_tiles > 0)
        wait(t, s.turns[group], phase);  // the other one has started its last product
      phase ^= 1;
      int before = 0;  // the stage of the previous tile
      TESSERA_NO_UNROLL
      for (int k = 0; k < k_tiles; ++k) {
        wait(t, s.full[turn.stage], turn.phase);  // both tiles have arrived
        Unit::mma(t, promotes<T> ? one : acc, part<S.wm>(s.a[turn.stage], gA.major, mine),
                  part<S.bn>(s.b[turn.stage], gB.major), k > 0 && !promotes<T>);
        wait_mma<promotes<T> ? 0 : 1>(t);  // the previous product is done: its stage is free
        if (k > 0) give_back(t, s.free[before], row_of, col_of);
        if constexpr (promotes<T>) Unit::add(acc, one);
        before = turn.stage;
        turn.next();
      }
      wait_mma<0>(t);  // acc is complete
      if (k_tiles > 0) {
        give_back(t, s.free[before], row_of, col_of);
        if (by_turns && leads) arrive(t, s.turns[1 - group]);
      }
      if (by_turns) turn.skip(k_tiles_of(n + step));
      if (first) wait_for_previous(t);
      first = false;
      store_sums<Unit>(t, acc, s.slices[group], slices, moved(C, which_of(n)),
                       at.row * (S.bm / S.wm) + mine, at.col,
                       k_tiles > 0 ? Sums::of_unit : Sums::none);
    }
    if (leads) wait_bulk<0>(t);  // all is stored
    leave(t);
  }

 private:
  /// The ranks in the first column of a cluster, a bit for each.
  static constexpr unsigned first_column = [] {
    unsigned ranks = 0;
    for (int row = 0; row < down; ++row) ranks |= 1u << row * across;
    return ranks;
  }();

  TESSERA_KERNEL static void meet_all(auto& t) {
    if constexpr (blocks > 1) cluster_barrier(t);
    else t.barrier();
  }
  /// No block may end while others copy into it or arrive at its gates.
  TESSERA_KERNEL static void leave(auto& t) {
    if constexpr (blocks > 1) {
      t.warp_barrier();
      cluster_barrier(t);
    }
  }
  /// Loads the tile from (row, k) on of an operand; of a tile that blocks share, one part, into all
  /// blocks of the mask.
  template <int Parts, class Tile>
  TESSERA_KERNEL static void load(auto& t, const auto& from, int row, int k, Tile& to, Gate& full,
                                  int part, unsigned mask) {
    if constexpr (Parts == 1) {
      copy_bulk(t, tile_from(from, row, k), to, full);
    } else {
      constexpr int rows = Tile::rows / Parts;
      copy_bulk(t, tile_from(from, row + part * rows, k), share<rows>(to, part), full, mask);
    }
  }
  /// C of a product of the series.
  TESSERA_KERNEL auto moved(auto C, index_t which) const {
    if constexpr (How == Products::one) return C;
    else if constexpr (requires { C.c; }) C.c = moved(C.c, which);
    else C = decltype(C)(C.data() + which * series.c, C.values(), C.edge_value());
    return C;
  }
  /// This warpgroup has read a stage: arrives at the gate of each block that loads into it.
  TESSERA_KERNEL static void give_back(auto& t, Gate& free, int row_of, int col_of) {
    const int to = t.thread % kWarpgroupThreads;
    if constexpr (blocks == 1) {
      if (to == 0) arrive(t, free);
    } else {
      if (to < blocks && (to / across == row_of || to % across == col_of)) arrive(t, free, to);
    }
  }
};

/// C = the sum of the parts of a split K, one (M,N) behind another, in their order.
struct SumParts {
  static constexpr const char* name = "sum_parts";
  static constexpr Dim3 block{256};
  static constexpr Dim3 grid(index_t M, index_t N) {
    return grid_of(name, ceil_div(M * N, index_t{block.x}));
  }
  int parts;

  TESSERA_KERNEL void operator()(auto t, const auto* from, const auto& C) const {
    using Acc = AccumulatorFor<std::remove_cvref_t<decltype(C)>>;
    const index_t N = valid<1>(C), count = valid<0>(C) * N;
    const index_t at = index_t{t.block.x} * block.x + t.thread.x;
    if (at >= count) return;
    Acc sum{0};
    for (int part = 0; part < parts; ++part) sum += from[part * count + at];
    store(C, at / N, at % N, sum);
  }
};

}  // namespace tessera
