// Puzzle 33: a convolution, and its halo.
// out(i) = a(i - 1) + 2 a(i) + a(i + 1), with zeros beyond both ends. 128 elements, blocks of 32.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 128, BLOCK = 32;

struct Convolution {
  static constexpr const char* name = "convolution";
  static constexpr Dim3 block{BLOCK};
  struct Shared {
    Tile<float, 1, BLOCK + 2> part;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread, at = t.block.x * BLOCK + i;
    s.part(0, i + 1) = a(at);
    //> FILL ME IN (about 6 lines): the first and the last thread also load the element beside the block, or zero
    if (i == 0) {
      s.part(0, 0) = 0;
      if (at > 0) s.part(0, 0) = a(at - 1);
    }
    if (i == BLOCK - 1) {
      s.part(0, BLOCK + 1) = 0;
      if (at < SIZE - 1) s.part(0, BLOCK + 1) = a(at + 1);
    }
    //> end
    t.barrier();
    out(at) = s.part(0, i) + 2 * s.part(0, i + 1) + s.part(0, i + 2);
  }
};
