// Puzzle 46: softmax, a warp for each row.
// out(r, j) = exp(a(r, j) - largest of row r) / (the sum of these): 4 rows of 32 numbers.
#include "tessera/puzzle/puzzle.hpp"

#include <cmath>

using namespace tessera;

constexpr int COLS = 32, ROWS = 4;

struct Softmax {
  static constexpr const char* name = "softmax";
  static constexpr Dim3 block{COLS, ROWS};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    const int row = t.thread.y, col = t.thread.x;  // a warp has one row, a lane one of its numbers
    const float mine = a(row, col);
    float largest = mine;
    for (int mask = COLS / 2; mask > 0; mask /= 2) {
      const float other = t.shuffle_xor(largest, mask);
      largest = other > largest ? other : largest;
    }
    //> FILL ME IN (about 4 lines): e is exp of how far `mine` is below the largest; total is the sum of the e of all lanes, as a butterfly
    const float e = std::exp(mine - largest);
    float total = e;
    for (int mask = COLS / 2; mask > 0; mask /= 2) total += t.shuffle_xor(total, mask);
    //> end
    //> FILL ME IN (1 line): store my share
    out(row, col) = e / total;
    //> end
  }
};
