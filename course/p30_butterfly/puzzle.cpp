// Puzzle 30: a butterfly.
// out(i) is how far a(i) is below the largest number of its warp: every lane needs the maximum.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 64, WARP = 32;

struct Butterfly {
  static constexpr const char* name = "butterfly";
  static constexpr Dim3 block{SIZE};
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    const int i = t.thread;
    const float mine = a(i);
    float largest = mine;
    for (int mask = WARP / 2; mask > 0; mask /= 2) {
      //> FILL ME IN (about 2 lines): take the maximum with the lane whose number differs in the bit `mask`
      const float other = t.shuffle_xor(largest, mask);
      largest = other > largest ? other : largest;
      //> end
    }
    out(i) = largest - mine;
  }
};
