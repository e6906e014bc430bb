// Puzzle 9: neighbouring threads, neighbouring elements.
// out = 2 a, 64 x 32, blocks of 32 x 8 threads. Right, but it loads eight times too many bytes.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

struct Twice {
  static constexpr const char* name = "twice";
  static constexpr Dim3 block{32, 8};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    //> CHANGE the 2 lines below: let neighbouring threads take neighbouring elements, each block 8 whole rows
    const int row = t.block.x * 8 + t.thread.y;
    const int col = t.thread.x;
    //> instead
    const int row = t.block.x / 4 * 32 + t.thread.x;
    const int col = t.block.x % 4 * 8 + t.thread.y;
    //> end
    out(row, col) = 2 * a(row, col);
  }
};
