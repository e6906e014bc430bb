// Puzzle 15: the naive product, coalesced.
// C = A * B: (64,16) times (16,64), blocks of 32 x 8 threads.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

struct CoalescedProduct {
  static constexpr const char* name = "coalesced_product";
  static constexpr Dim3 block{32, 8};
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    //> CHANGE the 2 lines below: the roles of x and y; the grid is 2 x 8: choose which of the two counts what
    const int row = t.block.y * 8 + t.thread.y;
    const int col = t.block.x * 32 + t.thread.x;
    //> instead
    const int row = t.block.x * 32 + t.thread.x;
    const int col = t.block.y * 8 + t.thread.y;
    //> end
    float sum = 0;
    for (int k = 0; k < 16; ++k) sum = fma(A(row, k), B(k, col), sum);
    C(row, col) = sum;
  }
};
