// Puzzle 40: bug hunt. The report says: async-not-waited.
// C = A * B, (16,64) times (64,16), in steps of 16 along k.
// Asynchronous copies fill two pairs of tiles.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int T = 16;

struct TwoTiles {
  static constexpr const char* name = "two_tiles";
  static constexpr Dim3 block{T, T};
  struct Shared {
    Tile<float, T, T> a[2], b[2];
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    const auto load = [&](index_t k) {
      copy_async(t, tile<T, T>(A, 0, k), s.a[k % 2].view());
      copy_async(t, tile<T, T>(B, k, 0), s.b[k % 2].view());
      commit(t);
    };
    float sum = 0;
    load(0);
    for (index_t k = 0; k < tiles<1>(A, T); ++k) {
      //> CHANGE the lines below: run the file first, and read which copy is meant
      if (k + 1 < tiles<1>(A, T)) {
        load(k + 1);
        wait<1>(t);
      } else {
        wait<0>(t);
      }
      //> instead
      if (k + 1 < tiles<1>(A, T)) load(k + 1);
      wait<1>(t);
      //> end
      t.barrier();
      for (int i = 0; i < T; ++i) sum = fma(s.a[k % 2](y, i), s.b[k % 2](i, x), sum);
      t.barrier();
    }
    store(tile<T, T>(C, 0, 0), y, x, sum);
  }
};
