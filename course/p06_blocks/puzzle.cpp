// Puzzle 6: many blocks.
// out = a + 10, one hundred elements, blocks of 32 threads.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 100, threads = 32;

struct AddTenInBlocks {
  static constexpr const char* name = "add_ten_in_blocks";
  static constexpr Dim3 block{threads};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    //> FILL ME IN (2 lines): my element's number, from t.block.x and t.thread.x
    const int i = t.block.x * threads + t.thread.x;
    if (i < SIZE) out(i) = a(i) + 10;
    //> end
  }
};
