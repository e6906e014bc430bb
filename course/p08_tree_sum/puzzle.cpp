// Puzzle 8: the sum of a block, in a tree.
// 64 numbers: 32 threads add 32 pairs, then 16 threads add 16 pairs, and so on.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 64;

struct TreeSum {
  static constexpr const char* name = "tree_sum";
  static constexpr Dim3 block{SIZE};
  struct Shared {
    Tile<float, 1, SIZE> sums;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    s.sums(0, i) = a(i);
    t.barrier();
    for (int half = SIZE / 2; half > 0; half /= 2) {
      //> FILL ME IN (2 lines): the first `half` threads add the element `half` to the right; wait
      if (i < half) s.sums(0, i) = s.sums(0, i) + s.sums(0, i + half);
      t.barrier();
      //> end
    }
    //> FILL ME IN (1 line): one thread stores the sum
    if (i == 0) out(0) = s.sums(0, 0);
    //> end
  }
};
