// Puzzle 28: the product of a warpgroup.
// C = A * B^T: (100,72) times (40,72) transposed. Per block 64 x 32 sums in the registers of 128
// threads, and one warp more that loads.
#include "tessera/puzzle/puzzle.hpp"

#include "tessera/ops/warpgroup.hpp"

using namespace tessera;

constexpr int depth = 32, stages = 2;
using TileA = UnitTile<float, row_major(64, depth)>;  // rows of 128 bytes
using TileB = UnitTile<float, row_major(32, depth)>;
using Unit = WarpgroupUnit<float, float, float, 64, 32>;  // f32, rounded to TF32

struct Warpgroup {
  static constexpr const char* name = "warpgroup";
  static constexpr Dim3 block{kWarpgroupThreads + 32};
  static constexpr bool needs_sm_90a = true;
  struct Shared {
    TileA a[stages];
    TileB b[stages];
    Gate full[stages], free[stages];
  };
  TESSERA_KERNEL void operator()(auto t, const auto& A, const auto& B, auto C) const {
    auto& s = shared<Shared>(t);
    open_gates(t, s.full, s.free, 1);  // one thread arrives at free, for all 128
    if (t.thread == 0) publish_gates(t);
    t.barrier();
    const int count = tiles<1>(A, depth);
    Turn<stages> turn;
    if (t.thread >= kWarpgroupThreads) {
      for (int k = 0; k < count && t.lane == 0; ++k, turn.next()) {
        wait(t, s.free[turn.stage], turn.before());
        expect(t, s.full[turn.stage], TileA::bytes + TileB::bytes);
        copy_bulk(t, tile<64, depth>(A, t.block.y, k), s.a[turn.stage], s.full[turn.stage]);
        copy_bulk(t, tile<32, depth>(B, t.block.x, k), s.b[turn.stage], s.full[turn.stage]);
      }
      return;
    }
    typename Unit::Fragment acc;  // this thread's 16 sums
    for (int k = 0; k < count; ++k, turn.next()) {
      wait(t, s.full[turn.stage], turn.phase);
      //> FILL ME IN (3 lines): mma of whole(tile of A), whole(tile of B); wait_mma; thread 0 frees
      Unit::mma(t, acc, whole(s.a[turn.stage]), whole(s.b[turn.stage]), k > 0);
      wait_mma<0>(t);
      if (t.thread == 0) arrive(t, s.free[turn.stage]);
      //> end
    }
    for (int v = 0; v < Unit::values; ++v) {
      const int at = Unit::position(t.thread, v);
      //> FILL ME IN (1 line): store sum v in the tile (64,32) of C; at is row + 64 column
      store(tile<64, 32>(C, t.block.y, t.block.x), at % 64, at / 64, acc.value[0][v]);
      //> end
    }
  }
};
