// Puzzle 10: transpose through shared memory.
// out(c, r) = a(r, c), 32 x 32, one block of 32 x 8 threads. Each thread moves four elements.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

struct Transpose {
  static constexpr const char* name = "transpose";
  static constexpr Dim3 block{32, 8};
  struct Shared {
    Tile<float, 32, 32> tile;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x;
    //> CHANGE the line below (to about 3): rows y, y + 8, ... into the tile; wait; rows of out from columns of the tile
    for (int y = t.thread.y; y < 32; y += 8) s.tile(y, x) = a(y, x);
    t.barrier();
    for (int y = t.thread.y; y < 32; y += 8) out(y, x) = s.tile(x, y);
    //> instead
    for (int y = t.thread.y; y < 32; y += 8) out(x, y) = a(y, x);
    //> end
  }
};
