// Puzzle 43: bug hunt. The report says: a 32-way bank conflict.
// out(i) = a(i, 0) x(0) + ... + a(i, 31) x(31), one warp. The numbers are right.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 32;

struct MatrixVector {
  static constexpr const char* name = "matrix_vector";
  static constexpr Dim3 block{SIZE};
  struct Shared {
    //> CHANGE the line below: run the file first, and read which access has the conflict
    Tile<float, SIZE, SIZE + 1> rows;
    //> instead
    Tile<float, SIZE, SIZE> rows;
    //> end
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto x, auto out) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    for (int row = 0; row < SIZE; ++row) s.rows(row, i) = a(row, i);
    t.barrier();
    float sum = 0;
    for (int k = 0; k < SIZE; ++k) sum = fma(s.rows(i, k), x(k), sum);
    out(i) = sum;
  }
};
