#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::scattered("a", 20, 45, 5);
  auto out = puzzle::output("out", 20, 45, [&](index_t r, index_t c) {
    return double(a.values(r, c)) + (c + 1 < 45 ? double(a.values(r, c + 1)) : 0);
  });
  run.launch("20 x 45, blocks of 16 x 8", Dim3{3, 3}, Neighbours{}, a, out);
  run.goal("loads from global memory, in warps", double(run.total().global_load_requests), 64,
           "two loads for each element");
}
