// Puzzle 36: bug hunt. The report says: early-return.
// out(i) = (a(i) + a(99 - i)) / 2, for 100 of 128 threads. Repair it; change as little as you can.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int THREADS = 128, SIZE = 100;

struct Mirror {
  static constexpr const char* name = "mirror";
  static constexpr Dim3 block{THREADS};
  struct Shared {
    Tile<float, 1, SIZE> mine;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    //> CHANGE the lines below: run the file first, and read which threads wait
    if (i < SIZE) s.mine(0, i) = a(i);
    t.barrier();
    if (i < SIZE) out(i) = (s.mine(0, i) + s.mine(0, SIZE - 1 - i)) / 2;
    //> instead
    if (i >= SIZE) return;
    s.mine(0, i) = a(i);
    t.barrier();
    out(i) = (s.mine(0, i) + s.mine(0, SIZE - 1 - i)) / 2;
    //> end
  }
};
