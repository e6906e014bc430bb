// Puzzle 5: rows and columns.
// out(r, c) = a(r, c) + b(c): a is 3 x 5, b has one number for each column.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int rows = 3, cols = 5;

struct AddRow {
  static constexpr const char* name = "add_row";
  static constexpr Dim3 block{8, 4};  // 8 threads along x, 4 along y
  TESSERA_KERNEL void operator()(auto t, auto a, auto b, auto out) const {
    const int row = t.thread.y, col = t.thread.x;
    //> FILL ME IN (1 or 2 lines)
    if (row < rows && col < cols) out(row, col) = a(row, col) + b(col);
    //> end
  }
};
