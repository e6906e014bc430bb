// Puzzle 7: shared memory and the barrier.
// out is a reversed, 64 elements, through shared memory.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 64;

struct Reversed {
  static constexpr const char* name = "reversed";
  static constexpr Dim3 block{SIZE};
  struct Shared {
    Tile<float, 1, SIZE> values;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    //> FILL ME IN (3 lines): a(i) into s.values(0, i), wait for the others, read what thread 63 - i wrote
    s.values(0, i) = a(i);
    t.barrier();  // all values are there
    out(i) = s.values(0, SIZE - 1 - i);
    //> end
  }
};
