// Puzzle 45: bug hunt. The report says: race in shared memory, between two rounds.
// Three rounds of smoothing on 64 numbers: each becomes (left + 2 own + right) / 4.
// The two ends keep theirs.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int SIZE = 64, ROUNDS = 3;

struct Smooth {
  static constexpr const char* name = "smooth";
  static constexpr Dim3 block{SIZE};
  struct Shared {
    Tile<float, 2, SIZE> row;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    s.row(0, i) = a(i);
    t.barrier();
    for (int round = 0; round < ROUNDS; ++round) {
      const int from = round % 2, to = 1 - from;
      //> CHANGE the lines below: run the file first, and read which rounds meet
      float next = s.row(from, i);
      if (i > 0 && i < SIZE - 1)
        next = (s.row(from, i - 1) + 2 * s.row(from, i) + s.row(from, i + 1)) / 4;
      s.row(to, i) = next;
      t.barrier();
      //> instead
      float next = s.row(from, i);
      if (i > 0 && i < SIZE - 1)
        next = (s.row(from, i - 1) + 2 * s.row(from, i) + s.row(from, i + 1)) / 4;
      t.barrier();
      s.row(to, i) = next;
      //> end
    }
    out(i) = s.row(ROUNDS % 2, i);
  }
};
