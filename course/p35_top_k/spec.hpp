#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a =
      puzzle::input("a", 1, 64, [](index_t, index_t i) { return double(i * 29 % 59) / 4; });
  auto out = puzzle::output("out", 1, 4, [](index_t, index_t k) { return k < 2 ? 14.5 : 14.25; });
  run.launch("64 elements, one block", Dim3{1}, TopK{}, puzzle::line(a), puzzle::line(out));
  run.goal("loads from global memory, in warps", double(run.total().global_load_requests), 2,
           "compare with the numbers in shared memory");
}
