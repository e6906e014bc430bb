// Puzzle 14: matrix multiplication in one block, from global memory and through shared memory.
// C = A * B, all 2 x 2, in one block of 3 x 3 threads: five of the nine threads have no element.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 2;  // rows and columns of A, B and C
constexpr int TPB = 3;   // threads of the block in each direction

// tessera puzzle run p14 --naive
struct Naive {
  static constexpr const char* name = "naive";
  static constexpr Dim3 block{TPB, TPB};
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    const int row = t.block.y * TPB + t.thread.y;
    const int col = t.block.x * TPB + t.thread.x;
    //> FILL ME IN (about 5 lines): one element of C, straight from A and B
    if (row < SIZE && col < SIZE) {
      float sum = 0;
      for (int k = 0; k < SIZE; ++k) sum = fma(A(row, k), B(k, col), sum);
      C(row, col) = sum;
    }
    //> end
  }
};

// tessera puzzle run p14 --single-block
struct SingleBlock {
  static constexpr const char* name = "single_block";
  static constexpr Dim3 block{TPB, TPB};
  struct Shared {
    Tile<float, TPB, TPB> a, b;  // 3 x 3, of which 2 x 2 are used
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int row = t.thread.y, col = t.thread.x;
    //> FILL ME IN (about 9 lines): load A and B into s.a and s.b, wait, then compute from s.a and s.b
    if (row < SIZE && col < SIZE) {
      s.a(row, col) = A(row, col);
      s.b(row, col) = B(row, col);
    }
    t.barrier();  // both are complete
    if (row < SIZE && col < SIZE) {
      float sum = 0;
      for (int k = 0; k < SIZE; ++k) sum = fma(s.a(row, k), s.b(k, col), sum);
      C(row, col) = sum;
    }
    //> end
  }
};
