// Puzzle 16: tiled matrix multiplication, by hand and with tile views.
// C = A * B, all 9 x 9, on a grid of 3 x 3 blocks with 3 x 3 threads each.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 9;  // rows and columns of A, B and C
constexpr int TPB = 3;   // threads of a block in each direction, and rows and columns of a tile

// tessera puzzle run p16 --tiled
struct Tiled {
  static constexpr const char* name = "tiled";
  static constexpr Dim3 block{TPB, TPB};
  struct Shared {
    Tile<float, TPB, TPB> a, b;
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int y = t.thread.y, x = t.thread.x;  // my place in the tiles
    const int row = t.block.y * TPB + y;       // my place in C
    const int col = t.block.x * TPB + x;
    //> FILL ME IN (about 14 lines): for each tile along k: load, wait, multiply, wait; then store
    float sum = 0;
    for (int k = 0; k < SIZE; k += TPB) {
      s.a(y, x) = row < SIZE && k + x < SIZE ? A(row, k + x) : 0.0f;
      s.b(y, x) = k + y < SIZE && col < SIZE ? B(k + y, col) : 0.0f;
      t.barrier();  // both tiles are complete
      for (int i = 0; i < TPB; ++i) sum = fma(s.a(y, i), s.b(i, x), sum);
      t.barrier();  // both tiles may be overwritten
    }
    if (row < SIZE && col < SIZE) C(row, col) = sum;
    //> end
  }
};

// tessera puzzle run p16 --idiomatic-tiled
struct IdiomaticTiled {
  static constexpr const char* name = "idiomatic_tiled";
  static constexpr Dim3 block{TPB, TPB};
  struct Shared {
    Tile<float, TPB, TPB> a, b;
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int y = t.thread.y, x = t.thread.x;
    auto mine = tile<TPB, TPB>(C, t.block.y, t.block.x);  // the tile of C that this block computes
    float sum = 0;
    for (int k = 0; k < SIZE / TPB; ++k) {
      //> FILL ME IN (about 8 lines): copy_async both tiles, commit, wait, barrier, multiply, barrier
      copy_async(t, tile<TPB, TPB>(A, t.block.y, k), s.a.view());
      copy_async(t, tile<TPB, TPB>(B, k, t.block.x), s.b.view());
      commit(t);
      wait<0>(t);   // what this thread copies has arrived
      t.barrier();  // what the others copy has arrived too
      for (int i = 0; i < TPB; ++i) sum = fma(s.a(y, i), s.b(i, x), sum);
      t.barrier();
      //> end
    }
    //> FILL ME IN (1 line): store the sum in `mine`
    mine(y, x) = sum;
    //> end
  }
};
