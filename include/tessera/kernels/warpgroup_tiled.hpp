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
// (ops/warpgroup_store.hpp). f32 inputs are rounded to TF32.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/block_order.hpp"
#include "tessera/ops/warpgroup.hpp"
#include "tessera/ops/warpgroup_store.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

template <TileShape S, ClusterShape Together = cluster_of(S)>
struct WarpgroupTiled {
  static_assert(S.bm > 0 && S.bn > 0 && S.wm > 0 && S.wn == S.bn && S.wm % 64 == 0,
                "warpgroup: WN = BN, and WM is a multiple of 64");
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
  static constexpr int stages = fitting < 8 ? fitting : 8;
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
    const int count = static_cast<int>(volume(groups_of_c));
    const int step = t.grid_dim.x / blocks, first_group = t.block.x / blocks;
    const int k_tiles = static_cast<int>(tiles<1>(gA, depth<T>));
    const auto tile_at = [&](int n) {
      const TileAt at = grouped_block(Position{0, 0, 0, n}, groups_of_c);
      return TileAt{at.row * down + row_of, at.col * across + col_of};
    };
    Turn<stages> turn;
    if (group == loader) {
      if constexpr (lends) fewer_registers<few>(t);
      if (t.thread == warpgroups * kWarpgroupThreads) {
        wait_for_previous(t);
        for (int n = first_group; n < count; n += step) {
          const TileAt at = tile_at(n);
          TESSERA_NO_UNROLL
          for (int k = 0; k < k_tiles; ++k, turn.next()) {
            wait(t, s.free[turn.stage], turn.before());  // this stage has been read
            Gate& full = s.full[turn.stage];
            expect(t, full, TileA<T>::bytes + TileB<T>::bytes);
            load<S.bm, across>(t, gA, at.row, k, s.a[turn.stage], full, col_of, beside);  // (BM,BK)
            load<S.bn, down>(t, gB, at.col, k, s.b[turn.stage], full, row_of, below);     // (BN,BK)
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
    if (by_turns && group == 1) turn.skip(k_tiles);
    unsigned phase = 0;  // of this warpgroup's turns
    bool first = true;
    const int from = first_group + (by_turns ? group * step : 0);
    for (int n = from; n < count; n += by_turns ? warpgroups * step : step) {
      const TileAt at = tile_at(n);
      typename Unit::Fragment acc;  // (WM,BN)
      if (k_tiles == 0) acc = {};
      if (by_turns && k_tiles > 0)
        wait(t, s.turns[group], phase);  // the other one has started its last product
      phase ^= 1;
      int before = 0;  // the stage of the previous tile
      TESSERA_NO_UNROLL
      for (int k = 0; k < k_tiles; ++k) {
        wait(t, s.full[turn.stage], turn.phase);  // both tiles have arrived
        Unit::mma(t, acc, part<S.wm>(s.a[turn.stage], gA.major, mine),
                  part<S.bn>(s.b[turn.stage], gB.major), k > 0);
        wait_mma<1>(t);  // the previous product is done: its stage is free
        if (k > 0) give_back(t, s.free[before], row_of, col_of);
        before = turn.stage;
        turn.next();
      }
      wait_mma<0>(t);  // acc is complete
      if (k_tiles > 0) {
        give_back(t, s.free[before], row_of, col_of);
        if (by_turns && leads) arrive(t, s.turns[1 - group]);
      }
      if (by_turns) turn.skip(k_tiles);
      if (first) wait_for_previous(t);
      first = false;
      store_sums<Unit>(t, acc, s.slices[group], slices, C, at.row * (S.bm / S.wm) + mine, at.col);
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
  /// Loads tile (i, k) of an operand; of a tile that blocks share, one part, into all blocks of the
  /// mask.
  template <int Rows, int Parts, class Tile>
  TESSERA_KERNEL static void load(auto& t, const auto& from, int i, int k, Tile& to, Gate& full,
                                  int part, unsigned mask) {
    if constexpr (Parts == 1) {
      copy_bulk(t, tile<Rows, Tile::cols>(from, i, k), to, full);
    } else {
      constexpr int rows = Rows / Parts;
      copy_bulk(t, tile<rows, Tile::cols>(from, i * Parts + part, k), share<rows>(to, part), full,
                mask);
    }
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

}  // namespace tessera
