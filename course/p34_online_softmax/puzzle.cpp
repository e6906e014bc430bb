// Puzzle 34: softmax in one pass less.
// out(r, j) = exp(a(r, j)) / (sum of exp(a(r, :))), 32 rows of 24: one thread for each row.
#include "tessera/puzzle/puzzle.hpp"

#include <cmath>

using namespace tessera;

constexpr int ROWS = 32, COLS = 24;

struct Softmax {
  static constexpr const char* name = "online_softmax";
  static constexpr Dim3 block{ROWS};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    const int row = t.thread;
    float largest = a(row, 0), total = 1;
    for (int j = 1; j < COLS; ++j) {
      const float x = a(row, j);
      //> FILL ME IN (about 3 lines): total is the sum of exp(a - largest) of all elements so far; x may be a new largest
      const float higher = x > largest ? x : largest;
      total = total * std::exp(largest - higher) + std::exp(x - higher);
      largest = higher;
      //> end
    }
    for (int j = 0; j < COLS; ++j) {
      const float x = a(row, j);
      out(row, j) = std::exp(x - largest) / total;
    }
  }
};
