// Puzzle 39: bug hunt. The report says: 32 sectors for a request.
// out(r) = sum of row r of a, 64 x 64, one block for each 32 rows.
// The numbers are right; the traffic is not.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 64, ROWS = 32;

struct RowSums {
  static constexpr const char* name = "row_sums";
  static constexpr Dim3 block{32, 8};
  struct Shared {
    Tile<float, ROWS, SIZE + 1> part;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int first = t.block.x * ROWS;
    //> CHANGE the loop below: run the file first, and read what its loads cost
    for (int row = t.thread.y; row < ROWS; row += 8)
      for (int col = t.thread.x; col < SIZE; col += 32) s.part(row, col) = a(first + row, col);
    //> instead
    for (int row = t.thread.x; row < ROWS; row += 32)
      for (int col = t.thread.y; col < SIZE; col += 8) s.part(row, col) = a(first + row, col);
    //> end
    t.barrier();
    if (t.thread.y == 0) {
      float sum = 0;
      for (int col = 0; col < SIZE; ++col) sum += s.part(t.thread.x, col);
      out(first + t.thread.x) = sum;
    }
  }
};
