// Puzzle 41: bug hunt. The report says: uninitialized-read.
// out(b) is the sum of the 256 numbers of block b: four for each thread.
// Then one thread adds the 64 sums.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int THREADS = 64, EACH = 4;

struct BlockSum {
  static constexpr const char* name = "block_sum";
  static constexpr Dim3 block{THREADS};
  struct Shared {
    Tile<float, 1, THREADS> sums;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread, first = t.block.x * THREADS * EACH;
    //> CHANGE the lines below: run the file first, and read what is added to what
    s.sums(0, i) = 0;
    for (int k = 0; k < EACH; ++k) s.sums(0, i) = s.sums(0, i) + a(first + k * THREADS + i);
    //> instead
    for (int k = 0; k < EACH; ++k) s.sums(0, i) = s.sums(0, i) + a(first + k * THREADS + i);
    //> end
    t.barrier();
    if (i == 0) {
      float sum = 0;
      for (int j = 0; j < THREADS; ++j) sum += s.sums(0, j);
      out(t.block.x) = sum;
    }
  }
};
