// Puzzle 38: bug hunt. The report says: out-of-bounds.
// out(r, c) = a(r, c) + a(r, c + 1); the last column has no neighbour and is copied. 20 x 45.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int ROWS = 20, COLS = 45;

struct Neighbours {
  static constexpr const char* name = "neighbours";
  static constexpr Dim3 block{16, 8};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    const int c = t.block.x * 16 + t.thread.x, r = t.block.y * 8 + t.thread.y;
    //> CHANGE the lines below: run the file first, and read which elements are touched
    if (r >= ROWS || c >= COLS) return;
    float sum = a(r, c);
    if (c + 1 < COLS) sum += a(r, c + 1);
    out(r, c) = sum;
    //> instead
    if (r > ROWS || c > COLS) return;
    float sum = a(r, c);
    if (c < COLS) sum += a(r, c + 1);
    out(r, c) = sum;
    //> end
  }
};
