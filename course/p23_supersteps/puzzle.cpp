// Puzzle 23: repair a published kernel.
// It has a race. On a GPU the numbers are right on most days. Find out what is missing.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int T = 16;

struct Published {
  static constexpr const char* name = "published";
  static constexpr Dim3 block{T, T};
  struct Shared {
    Tile<float, T, T> a, b;
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int x = t.thread.x, y = t.thread.y;
    float sum = 0;
    //> CHANGE the loop below: run the file first, and read which lines meet
    for (index_t k = 0; k < tiles<1>(A, T); ++k) {
      t.superstep("load", [&] {
        copy(t, tile<T, T>(A, t.block.y, k), s.a.view());
        copy(t, tile<T, T>(B, k, t.block.x), s.b.view());
      });
      t.superstep("multiply", [&] {
        for (int i = 0; i < T; ++i) sum = fma(s.a(y, i), s.b(i, x), sum);
      });
    }
    //> instead
    for (index_t k = 0; k < tiles<1>(A, T); ++k) {
      t.superstep("load", [&] {
        copy(t, tile<T, T>(A, t.block.y, k), s.a.view());
        copy(t, tile<T, T>(B, k, t.block.x), s.b.view());
      });
      for (int i = 0; i < T; ++i) sum = fma(s.a(y, i), s.b(i, x), sum);
    }
    //> end
    store(tile<T, T>(C, t.block.y, t.block.x), y, x, sum);
  }
};
