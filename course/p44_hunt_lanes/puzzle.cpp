// Puzzle 44: bug hunt. The report says: missing-barrier, at a shuffle.
// out(0) is the sum of a(0) to a(19): one warp, 20 of its lanes have a number.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int WARP = 32, SIZE = 20;

struct PartialSum {
  static constexpr const char* name = "partial_sum";
  static constexpr Dim3 block{WARP};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    const int i = t.thread;
    //> CHANGE the lines below: run the file first, and read who calls the shuffle
    float sum = 0;
    if (i < SIZE) sum = a(i);
    for (int step = WARP / 2; step > 0; step /= 2) sum += t.shuffle_down(sum, step);
    if (i == 0) out(0) = sum;
    //> instead
    if (i < SIZE) {
      float sum = a(i);
      for (int step = WARP / 2; step > 0; step /= 2) sum += t.shuffle_down(sum, step);
      if (i == 0) out(0) = sum;
    }
    //> end
  }
};
