// Puzzle 32: a histogram.
// a holds 512 whole numbers from 0 to 15; out(v) is how often v occurs. Four blocks.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int THREADS = 128, VALUES = 16;

struct Histogram {
  static constexpr const char* name = "histogram";
  static constexpr Dim3 block{THREADS};
  struct Shared {
    Tile<float, 1, VALUES> counts;
  };
  TESSERA_KERNEL void operator()(auto t, auto a, auto out) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    if (i < VALUES) s.counts(0, i) = 0;
    t.barrier();
    const float value = a(t.block.x * THREADS + i);
    //> FILL ME IN (1 line): count my value in s.counts, where other threads count too
    t.atomic_add(s.counts(0, int(value)), 1.0f);
    //> end
    t.barrier();
    //> FILL ME IN (1 line): 16 threads add the counts of this block to out; it holds zeros at the start
    if (i < VALUES) t.atomic_add(out(i), float(s.counts(0, i)));
    //> end
  }
};
