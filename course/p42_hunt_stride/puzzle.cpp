// Puzzle 42: bug hunt. The report says: race in global memory, between blocks.
// out(i) = 2 a(i) + 1 for 300 elements: two blocks of 64 threads, each thread has several elements.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int THREADS = 64, SIZE = 300;

struct Strided {
  static constexpr const char* name = "strided";
  static constexpr Dim3 block{THREADS};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    //> CHANGE the line below: run the file first, and read which threads share an element
    const int step = THREADS * t.grid_dim.x;
    //> instead
    const int step = THREADS;
    //> end
    for (int i = t.block.x * THREADS + t.thread; i < SIZE; i += step) out(i) = 2 * a(i) + 1;
  }
};
