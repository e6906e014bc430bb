// Puzzle 20: a tile of results in the registers of one thread.
// C = A * B: (32,16) times (16,32), one block of 8 x 8 threads, each with 4 x 4 elements of C.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int TM = 4, TN = 4;

struct BlockTile {
  static constexpr const char* name = "block_tile";
  static constexpr Dim3 block{8, 8};
  struct Shared {
    Tile<float, 32, 16> a;
    Tile<float, 16, 32> b;
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    copy(t, tile<32, 16>(A, 0, 0), s.a.view());
    copy(t, tile<16, 32>(B, 0, 0), s.b.view());
    t.barrier();
    const int row = t.thread.y * TM, col = t.thread.x * TN;  // the first of my 4 x 4
    float sum[TM][TN] = {};
    for (int k = 0; k < 16; ++k) {
      //> FILL ME IN (about 5 lines): TM elements of a and TN of b into registers, then all their products
      float a[TM], b[TN];
      for (int i = 0; i < TM; ++i) a[i] = s.a(row + i, k);
      for (int j = 0; j < TN; ++j) b[j] = s.b(k, col + j);
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sum[i][j] = fma(a[i], b[j], sum[i][j]);
      //> end
    }
    for (int i = 0; i < TM; ++i)
      for (int j = 0; j < TN; ++j) C(row + i, col + j) = sum[i][j];
  }
};
