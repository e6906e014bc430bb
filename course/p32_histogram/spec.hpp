#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto value = [](index_t i) { return i % 3 == 0 ? 5 : i % 16; };
  const auto a = puzzle::input("a", 1, 512, [=](index_t, index_t i) { return double(value(i)); });
  auto out = puzzle::output("out", 1, 16, [=](index_t, index_t v) {
    double count = 0;
    for (index_t i = 0; i < 512; ++i) count += value(i) == v;
    return count;
  });
  run.launch_with({.adds_to_outputs = true, .changes_tiles = true}, "512 values in four blocks",
                  Dim3{4}, Histogram{}, puzzle::line(a), puzzle::line(out));
  run.goal("atomic additions to global memory, in warps",
           double(run.total().global_atomic_requests), 4,
           "count in shared memory; each block adds its 16 counts to out once");
}
