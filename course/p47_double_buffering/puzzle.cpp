// Puzzle 47: double buffering.
// C = A * B, (16,64) times (64,16), in four steps of 16 along k. While the block multiplies one
// pair of tiles, copies of the next pair are under way. One barrier in each step is enough.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int T = 16, STEPS = 4;

struct DoubleBuffered {
  static constexpr const char* name = "double_buffered";
  static constexpr Dim3 block{T, T};
  struct Shared {
    Tile<float, T, T> a[2], b[2];  // of step k: a[k % 2], b[k % 2]
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    const auto load = [&](int k) {
      copy_async(t, tile<T, T>(A, 0, k), s.a[k % 2].view());
      copy_async(t, tile<T, T>(B, k, 0), s.b[k % 2].view());
      commit(t);
    };
    float sum = 0;
    load(0);
    for (int k = 0; k < STEPS; ++k) {
      //> CHANGE the lines below, which are right but wait for each tile: copy step k + 1 while step k is multiplied, with one barrier
      wait<0>(t);
      t.barrier();  // step k has arrived, and nobody reads the tiles of step k - 1 any more
      if (k + 1 < STEPS) load(k + 1);
      for (int i = 0; i < T; ++i) sum = fma(s.a[k % 2](y, i), s.b[k % 2](i, x), sum);
      //> instead
      wait<0>(t);
      t.barrier();
      for (int i = 0; i < T; ++i) sum = fma(s.a[k % 2](y, i), s.b[k % 2](i, x), sum);
      t.barrier();
      if (k + 1 < STEPS) load(k + 1);
      //> end
    }
    C(y, x) = sum;
  }
};
