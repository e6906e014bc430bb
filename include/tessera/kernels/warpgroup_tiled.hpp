// The fastest kernel for Hopper (sm_90a): warpgroups multiply with the matrix units that read their
// operands from shared memory by themselves, and a warp that does nothing else keeps bulk copies
// in flight. A block computes tile after tile of C. It loads the next one while the sums of the
// one before are stored. Where a warpgroup owns whole tiles (WM = BM, WN = BN), two of them take
// turns: one stores while the other multiplies; else they share each tile by its rows.
//
// A is (M,K) and B^T is (N,K) as BulkMatrix, either mode contiguous; C is (M,N), any strides, with
// its epilogue; `slices` is C again, for bulk stores, where C takes the sums as they are
// (ops/warpgroup_store.hpp). f32 inputs are rounded to TF32.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/block_order.hpp"
#include "tessera/ops/warpgroup.hpp"
#include "tessera/ops/warpgroup_store.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

template <TileShape S>
struct WarpgroupTiled {
  static_assert(S.bm > 0 && S.bn > 0 && S.wm > 0 && S.wn == S.bn && S.wm % 64 == 0,
                "warpgroup: WN = BN, and WM is a multiple of 64");
  static_assert(S.wm == S.bm || 2 * S.wm == S.bm,
                "warpgroup: two warpgroups share a tile by its rows, or own whole tiles by turns");
  static constexpr bool by_turns = S.wm == S.bm;
  static constexpr int warpgroups = 2, loader = warpgroups;
  static constexpr const char* name = "warpgroup";
  /// With very many sums the loading warps, four of them then, give registers to the others.
  static constexpr bool lends = S.wm * S.wn > 128 * kWarpgroupThreads;
  static constexpr int loaders = lends ? kWarpgroupThreads : kWarpSize;
  static constexpr int few = 40, many = 232;  ///< together those of a multiprocessor
  static constexpr Dim3 block{warpgroups * kWarpgroupThreads + loaders};
  static constexpr bool needs_sm_90a = true, starts_early = true;
  /// A block for each multiprocessor, of as many tiles as there are.
  static constexpr Dim3 grid(index_t M, index_t N, int multiprocessors = 132) {
    const index_t tiles = ceil_div(M, S.bm) * ceil_div(N, S.bn);
    return grid_of(name, tiles < multiprocessors ? tiles : multiprocessors);
  }
  template <class T>
  static constexpr int depth = 128 / static_cast<int>(sizeof(T));  ///< BK: rows of 128 bytes
  template <class T>
  using TileA = OperandTile<T, S.bm, depth<T>>;
  template <class T>
  using TileB = OperandTile<T, S.bn, depth<T>>;
  /// As many as fit, of the 227 KiB of a block, beside the slices and the gates.
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
    open_gates(t, s.full, s.free, by_turns ? 1 : warpgroups);
    if (t.thread == 0) {
      for (auto& turn : s.turns) open_gate(t, turn, 1);
      publish_gates(t);
    }
    let_next_start(t);
    t.barrier();  // all gates are open
    const Dim3 tiles_of_c{static_cast<int>(ceil_div(valid<1>(C), S.bn)),
                          static_cast<int>(ceil_div(valid<0>(C), S.bm))};
    const int count = static_cast<int>(volume(tiles_of_c)), step = t.grid_dim.x;
    const int k_tiles = static_cast<int>(tiles<1>(gA, depth<T>));
    const auto tile_at = [&](int n) { return grouped_block(Position{0, 0, 0, n}, tiles_of_c); };
    Turn<stages> turn;
    if (group == loader) {
      if constexpr (lends) fewer_registers<few>(t);
      if (t.thread != warpgroups * kWarpgroupThreads) return;
      wait_for_previous(t);
      for (int n = t.block.x; n < count; n += step) {
        const TileAt at = tile_at(n);
        TESSERA_NO_UNROLL
        for (int k = 0; k < k_tiles; ++k, turn.next()) {
          wait(t, s.free[turn.stage], turn.before());  // what was in this stage has been read
          Gate& full = s.full[turn.stage];
          expect(t, full, TileA<T>::bytes + TileB<T>::bytes);
          copy_bulk(t, tile<S.bm, depth<T>>(gA, at.row, k), s.a[turn.stage], full);  // (BM,BK)
          copy_bulk(t, tile<S.bn, depth<T>>(gB, at.col, k), s.b[turn.stage], full);  // (BN,BK)
        }
      }
      return;
    }
    if constexpr (lends) more_registers<many>(t);
    const bool leads = t.thread % kWarpgroupThreads == 0;
    const int mine = by_turns ? 0 : group;  // which rows of a tile
    if (by_turns && group == 0 && leads) arrive(t, s.turns[0]);
    if (by_turns && group == 1) turn.skip(k_tiles);
    unsigned phase = 0;  // of this warpgroup's turns
    bool first = true;
    const int from = t.block.x + (by_turns ? group * step : 0);
    for (int n = from; n < count; n += by_turns ? warpgroups * step : step) {
      const TileAt at = tile_at(n);
      typename Unit::Fragment acc;  // (WM,BN)
      if (k_tiles == 0) acc = {};
      if (by_turns && k_tiles > 0)
        wait(t, s.turns[group], phase);  // the other one has started its last product
      phase ^= 1;
      int before = 0;  // the stage of the tile before
      TESSERA_NO_UNROLL
      for (int k = 0; k < k_tiles; ++k) {
        wait(t, s.full[turn.stage], turn.phase);  // both tiles have arrived
        Unit::mma(t, acc, part<S.wm>(s.a[turn.stage], gA.major, mine),
                  part<S.bn>(s.b[turn.stage], gB.major), k > 0);
        wait_mma<1>(t);  // the product before this one is done: its stage is free
        if (k > 0 && leads) arrive(t, s.free[before]);
        before = turn.stage;
        turn.next();
      }
      wait_mma<0>(t);  // acc is complete
      if (k_tiles > 0 && leads) {
        arrive(t, s.free[before]);
        if (by_turns) arrive(t, s.turns[1 - group]);
      }
      if (by_turns) turn.skip(k_tiles);
      if (first) wait_for_previous(t);
      first = false;
      store_sums<Unit>(t, acc, s.slices[group], slices, C, at.row * (S.bm / S.wm) + mine, at.col);
    }
    if (leads) wait_bulk<0>(t);  // all is stored
  }
};

}  // namespace tessera
