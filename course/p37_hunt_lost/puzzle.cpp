// Puzzle 37: bug hunt. The report says: race in global memory.
// out(0) is the largest of 256 numbers; all are above 0, and out(0) is 0 at the start. Four blocks.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int THREADS = 64;

struct Largest {
  static constexpr const char* name = "largest";
  static constexpr Dim3 block{THREADS};
  struct Shared {
    Tile<float, 1, THREADS> all;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    s.all(0, i) = a(t.block.x * THREADS + i);
    t.barrier();
    if (i == 0) {
      float largest = 0;
      for (int j = 0; j < THREADS; ++j) {
        const float x = s.all(0, j);
        largest = x > largest ? x : largest;
      }
      //> CHANGE the line below: run the file first, and read which blocks meet
      t.atomic_max(out(0), largest);
      //> instead
      if (largest > out(0)) out(0) = largest;
      //> end
    }
  }
};
