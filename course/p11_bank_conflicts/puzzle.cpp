// Puzzle 11: bank conflicts.
// The transposition of puzzle 10. Right, coalesced, and each read of the tile takes 32 passes.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

struct TransposeWithoutConflicts {
  static constexpr const char* name = "transpose_without_conflicts";
  static constexpr Dim3 block{32, 8};
  struct Shared {
    //> CHANGE the line below: another shape of the tile, so that the elements of one column lie in different banks
    Tile<float, 32, 33> tile;
    //> instead
    Tile<float, 32, 32> tile;
    //> end
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x;
    for (int y = t.thread.y; y < 32; y += 8) s.tile(y, x) = a(y, x);
    t.barrier();
    for (int y = t.thread.y; y < 32; y += 8) out(y, x) = s.tile(x, y);
  }
};
