// Puzzle 31: prefix sums.
// out(i) = a(0) + a(1) + ... + a(i), for 64 numbers in one block.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 64;

struct Scan {
  static constexpr const char* name = "scan";
  static constexpr Dim3 block{SIZE};
  struct Shared {
    Tile<float, 1, SIZE> sums;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    s.sums(0, i) = a(i);
    t.barrier();
    for (int step = 1; step < SIZE; step *= 2) {
      //> FILL ME IN (about 4 lines): each thread adds the number `step` places to the left, if there is one
      float left = 0;
      if (i >= step) left = s.sums(0, i - step);
      t.barrier();
      s.sums(0, i) = s.sums(0, i) + left;
      t.barrier();
      //> end
    }
    out(i) = s.sums(0, i);
  }
};
