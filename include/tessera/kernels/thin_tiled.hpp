// For a thin C on Hopper (sm_90a), bound by reading the large operand once from memory. A
// warpgroup's matrix instruction takes 64 rows: the large operand provides them, so that the few
// columns of the small one need no padding. A block computes one tile of C, with all of K or a part
// of it. Where there are few tiles, half of an instruction's rows stay empty, so that twice as many
// multiprocessors read.
//
// The large operand is (L,K), K-major or MN-major, the small one (S,K), K-major, both as
// BulkMatrix; C is (L,S), any strides, with its epilogue: the transpose of the caller's C where the
// caller's A is the small one. f32 inputs are rounded to TF32.
#pragma once

#include "tessera/kernels/tile_shape.hpp"
#include "tessera/ops/warpgroup.hpp"
#include "tessera/ops/warpgroup_store.hpp"
#include "tessera/simt/dim3.hpp"
#include "tessera/simt/shared.hpp"

namespace tessera {

namespace detail {
/// Output number `part` of several without an epilogue, one after another in memory.
template <AnyTensor CTensor>
TESSERA_HD constexpr Output<CTensor> part_of(Output<CTensor> out, index_t part) {
  const index_t size = valid<0>(out.c) * valid<1>(out.c);
  out.c = with_engine(out.c, out.c.data() + part * size);
  return out;
}
}  // namespace detail

template <TileShape S>
struct ThinTiled {
  static_assert(S.bm == 64 || S.bm == 32, "thin: BM is 64 or 32, rows of the large operand");
  static_assert(S.bn % 8 == 0 && S.bn > 0 && S.bn <= 256,
                "thin: BN is a multiple of 8 up to 256, the columns of a warpgroup's instruction");
  static constexpr int unit_rows = 64;
  static constexpr bool is_half = S.bm < unit_rows;
  static constexpr const char* name = "thin";
  static constexpr Dim3 block{kWarpgroupThreads + kWarpSize};
  static constexpr bool needs_sm_90a = true, starts_early = true;
  static constexpr Dim3 grid(index_t large, index_t small, int parts = 1) {
    return grid_of(name, ceil_div(large, S.bm) * parts, ceil_div(small, S.bn));
  }
  int k_tiles_of_part = 0;  ///< of K in parts, each with a C of its own; 0: K is whole

  template <class T>
  static constexpr int depth = 128 / static_cast<int>(sizeof(T));  ///< BK: rows of 128 bytes
  /// The tile that is loaded: half-empty instructions need a K-major one.
  template <class T>
  using TileL = std::conditional_t<is_half, UnitTile<T, unit_layout<T>(Major::k, S.bm, depth<T>)>,
                                   OperandTile<T, S.bm, depth<T>>>;
  template <class T>
  using TileS = UnitTile<T, unit_layout<T>(Major::k, S.bn, depth<T>)>;
  /// All rows of a unit, of which TileL is the first or all.
  template <class T>
  union Large {
    OperandTile<T, unit_rows, depth<T>> rows;
    TileL<T> loaded;
  };
  /// Two blocks share a multiprocessor's 227 KiB.
  static constexpr int fitting = (112 * 1024 - kSliceBytes) / ((unit_rows + S.bn) * 128);
  static constexpr int stages = fitting < 8 ? fitting : 8;
  template <class T>
  struct Shared {
    Large<T> large[stages];
    TileS<T> small[stages];
    Slice slice;
    Gate full[stages], free[stages];
  };

  TESSERA_KERNEL void operator()(auto t, const auto& gL, const auto& gS, const auto& C) const {
    using T = ElementOf<decltype(gL)>;
    using Unit = WarpgroupUnit<AccumulatorFor<decltype(C)>, T, T, unit_rows, S.bn>;
    auto& s = shared<Shared<T>>(t);
    const int group = t.warpgroup();
    open_gates(t, s.full, s.free, 1);
    if (t.thread == 0) publish_gates(t);
    if constexpr (is_half) leave_half_empty(t, s.large);
    let_next_start(t);
    t.barrier();  // all gates are open
    const int down = static_cast<int>(tiles<0>(gL, S.bm)), row = t.block.x % down;
    const int part = t.block.x / down, deep = static_cast<int>(tiles<1>(gL, depth<T>));
    const int first = part * k_tiles_of_part, left = deep - first;  // tiles along K
    const int k_tiles = k_tiles_of_part > 0 && k_tiles_of_part < left ? k_tiles_of_part : left;
    Turn<stages> turn;
    if (group != 0) {
      if (t.thread != kWarpgroupThreads) return;
      wait_for_previous(t);
      TESSERA_NO_UNROLL
      for (int k = 0; k < k_tiles; ++k, turn.next()) {
        wait(t, s.free[turn.stage], turn.before());  // this stage has been read
        Gate& full = s.full[turn.stage];
        expect(t, full, TileL<T>::bytes + TileS<T>::bytes);
        const auto from = tile<S.bm, depth<T>>(gL, row, first + k);  // (BM,BK)
        copy_bulk(t, from, s.large[turn.stage].loaded, full);
        copy_bulk(t, tile<S.bn, depth<T>>(gS, t.block.y, first + k), s.small[turn.stage],
                  full);  // (BN,BK)
      }
      return;
    }
    typename Unit::Fragment acc;  // (64,BN)
    if (k_tiles == 0) acc = {};
    int before = 0;  // the stage of the previous tile
    TESSERA_NO_UNROLL
    for (int k = 0; k < k_tiles; ++k) {
      wait(t, s.full[turn.stage], turn.phase);  // both tiles have arrived
      const auto& large = s.large[turn.stage].rows;
      const auto small = whole(s.small[turn.stage]);
      if (!TileL<T>::is_either || gL.major == Major::k)
        Unit::mma(t, acc, whole(large.k_major), small, k > 0);
      else Unit::mma(t, acc, whole(large.mn_major), small, k > 0);
      wait_mma<1>(t);  // the previous product is done: its stage is free
      if (k > 0 && t.thread == 0) arrive(t, s.free[before]);
      before = turn.stage;
      turn.next();
    }
    wait_mma<0>(t);  // acc is complete
    wait_for_previous(t);
    store_elements<Unit, S.bm>(t, acc, s.slice, detail::part_of(C, part), row, t.block.y);
  }

 private:
  /// Rows that are never loaded stay zero.
  template <class Thread, class Tiles>
  static TESSERA_KERNEL void leave_half_empty(Thread& t, Tiles& large) {
    TESSERA_NO_UNROLL
    for (auto& each : large) {
      auto view = each.rows.k_major.view();
      constexpr int columns = std::remove_cvref_t<decltype(each.rows)>::cols;
      for (int i = t.thread; i < (unit_rows - S.bm) * columns; i += static_cast<int>(volume(block)))
        view(S.bm + i / columns, i % columns) = {};
    }
    fence_async(t);
  }
};

}  // namespace tessera
