#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a =
      puzzle::input("a", 1, 256, [](index_t, index_t i) { return double(1 + i * 37 % 256) / 4; });
  auto out = puzzle::output("out", 1, 1, [](index_t, index_t) { return 64.0; });
  run.launch_with({.adds_to_outputs = true}, "256 elements in four blocks", Dim3{4}, Largest{},
                  puzzle::line(a), puzzle::line(out));
  run.goal("atomic operations on global memory, in warps",
           double(run.total().global_atomic_requests), 4, "one for each block");
}
