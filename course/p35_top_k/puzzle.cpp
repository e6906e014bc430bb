// Puzzle 35: the four largest.
// out(0) to out(3) are the four largest of 64 numbers, the largest first;
// of equal numbers the earlier one.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 64, TOP = 4;

struct TopK {
  static constexpr const char* name = "top_k";
  static constexpr Dim3 block{SIZE};
  struct Shared {
    Tile<float, 1, SIZE> all;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    const float mine = a(i);
    s.all(0, i) = mine;
    t.barrier();
    int before = 0;
    for (int j = 0; j < SIZE; ++j) {
      const float other = s.all(0, j);
      //> FILL ME IN (1 line): count the numbers that come before mine
      before += other > mine || (other == mine && j < i);
      //> end
    }
    //> FILL ME IN (1 line): a thread whose number is among the first four stores it
    if (before < TOP) out(before) = mine;
    //> end
  }
};
