// Puzzle 18: B comes transposed.
// C = A * B^T, all 32 x 32, in tiles of 16 x 16. B holds the columns of the second factor as its
// rows.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int T = 16;

struct TransposedLoading {
  static constexpr const char* name = "transposed_loading";
  static constexpr Dim3 block{T, T};
  struct Shared {
    Tile<float, T, T> a;
    Tile<float, T, T + 1> b;  // b(k, n)
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int y = t.thread.y, x = t.thread.x;
    const int row = t.block.y * T + y, col = t.block.x * T + x;
    float sum = 0;
    for (int k = 0; k < 32; k += T) {
      s.a(y, x) = A(row, k + x);
      //> CHANGE the line below, which is right but costs 8.8 sectors: neighbours along x read neighbours of a row of B, and store them in a column of s.b
      s.b(x, y) = B(t.block.x * T + y, k + x);
      //> instead
      s.b(y, x) = B(col, k + y);
      //> end
      t.barrier();
      for (int i = 0; i < T; ++i) sum = fma(s.a(y, i), s.b(i, x), sum);
      t.barrier();
    }
    C(row, col) = sum;
  }
};
