// Puzzle 21: four elements with one load.
// C = A * B: (32,32) times (32,32), tiles of 32 x 16 and 16 x 32.
// The loads go one element at a time.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

struct Vectorised {
  static constexpr const char* name = "vectorised";
  static constexpr Dim3 block{32, 4};
  struct Shared {
    Tile<float, 32, 16> a;
    Tile<float, 16, 32> b;
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    float sum[8] = {};
    for (int k = 0; k < 2; ++k) {
      //> CHANGE the 2 lines below: the same copies, four elements at a time
      copy_vectorized<4>(t, tile<32, 16>(A, 0, k), s.a.view());
      copy_vectorized<4>(t, tile<16, 32>(B, k, 0), s.b.view());
      //> instead
      copy(t, tile<32, 16>(A, 0, k), s.a.view());
      copy(t, tile<16, 32>(B, k, 0), s.b.view());
      //> end
      t.barrier();
      for (int n = 0; n < 16; ++n)
        for (int i = 0; i < 8; ++i)
          sum[i] = fma(s.a(t.thread.y * 8 + i, n), s.b(n, t.thread.x), sum[i]);
      t.barrier();
    }
    for (int i = 0; i < 8; ++i) C(t.thread.y * 8 + i, t.thread.x) = sum[i];
  }
};
