// Puzzle 27: a pipeline with gates.
// out(row) = sum of row `row` of A. One thread starts bulk copies, a warp adds up what they bring.
#include "tessera/puzzle/puzzle.hpp"

#include "tessera/ops/bulk.hpp"

using namespace tessera;

constexpr int height = 32, width = 32, stages = 2;
using Part = UnitTile<float, row_major(height, width)>;  // rows of 128 bytes

struct RowSums {
  static constexpr const char* name = "row_sums";
  static constexpr Dim3 block{64};
  static constexpr bool needs_sm_90a = true;
  struct Shared {
    Part parts[stages];
    Gate full[stages], free[stages];
  };
  TESSERA_KERNEL void operator()(auto t, const auto& A, auto out) const {
    auto& s = shared<Shared>(t);
    open_gates(t, s.full, s.free, 32);  // 32 threads arrive at free
    if (t.thread == 0) publish_gates(t);
    t.barrier();
    const int count = tiles<1>(A, width);
    Turn<stages> turn;
    if (t.warp == 1) {  // loads
      for (int k = 0; k < count && t.lane == 0; ++k) {
        //> FILL ME IN (4 lines): wait until the stage is free, expect the bytes, copy, next stage
        wait(t, s.free[turn.stage], turn.before());
        expect(t, s.full[turn.stage], Part::bytes);
        copy_bulk(t, tile<height, width>(A, t.block.x, k), s.parts[turn.stage], s.full[turn.stage]);
        turn.next();
        //> end
      }
    } else {  // adds up: each thread one row
      float sum = 0;
      for (int k = 0; k < count; ++k) {
        //> FILL ME IN (about 5 lines): wait until the stage is full, add, free it, next stage
        wait(t, s.full[turn.stage], turn.phase);
        const auto part = s.parts[turn.stage].view();
        for (int i = 0; i < width; ++i) sum += part(t.lane, i);
        arrive(t, s.free[turn.stage]);
        turn.next();
        //> end
      }
      const int row = t.block.x * height + t.lane;
      if (row < extent<0>(A)) out(row) = sum;
    }
  }
};
