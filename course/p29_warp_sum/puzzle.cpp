// Puzzle 29: the sum of a warp.
// 128 numbers, one block: out(w) is the sum of the 32 numbers of warp w.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 128, WARP = 32;

struct WarpSum {
  static constexpr const char* name = "warp_sum";
  static constexpr Dim3 block{SIZE};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    const int i = t.thread;
    float sum = a(i);
    for (int step = WARP / 2; step > 0; step /= 2) {
      //> FILL ME IN (1 line): add the sum of the lane that is `step` lanes above
      sum += t.shuffle_down(sum, step);
      //> end
    }
    if (i % WARP == 0) out(i / WARP) = sum;
  }
};
