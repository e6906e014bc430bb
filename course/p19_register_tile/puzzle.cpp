// Puzzle 19: four results in the registers of one thread.
// C = A * B: (32,16) times (16,32). One block of 32 x 8 threads; each has four rows of a column of
// C.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int TM = 4;

struct RegisterTile {
  static constexpr const char* name = "register_tile";
  static constexpr Dim3 block{32, 8};
  struct Shared {
    Tile<float, 32, 16> a;
    Tile<float, 16, 32> b;
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    copy(t, tile<32, 16>(A, 0, 0), s.a.view());
    copy(t, tile<16, 32>(B, 0, 0), s.b.view());
    t.barrier();
    const int first = t.thread.y * TM, col = t.thread.x;  // my rows: first to first + TM - 1
    float sum[TM] = {};
    //> CHANGE the 2 lines below: read each element of b once, and use it for all TM sums
    for (int k = 0; k < 16; ++k) {
      const float b = s.b(k, col);
      for (int i = 0; i < TM; ++i) sum[i] = fma(s.a(first + i, k), b, sum[i]);
    }
    //> instead
    for (int i = 0; i < TM; ++i)
      for (int k = 0; k < 16; ++k) sum[i] = fma(s.a(first + i, k), s.b(k, col), sum[i]);
    //> end
    for (int i = 0; i < TM; ++i) C(first + i, col) = sum[i];
  }
};
