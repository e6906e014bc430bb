// Puzzle 13: A times its transpose.
// C = A * A^T, 2 x 2: C(r, c) is row r of A times row c of A.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 2;

struct TimesTranspose {
  static constexpr const char* name = "times_transpose";
  static constexpr Dim3 block{3, 3};
  struct Shared {
    Tile<float, 3, 3> a;
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    const int row = t.thread.y, col = t.thread.x;
    //> FILL ME IN (about 7 lines): A into s.a, wait, then the product of two of its rows
    if (row < SIZE && col < SIZE) s.a(row, col) = A(row, col);
    t.barrier();
    if (row < SIZE && col < SIZE) {
      float sum = 0;
      for (int k = 0; k < SIZE; ++k) sum = fma(s.a(row, k), s.a(col, k), sum);
      C(row, col) = sum;
    }
    //> end
  }
};
