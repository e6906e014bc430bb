#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 20, 0.25);
  auto out = puzzle::output("out", 1, 1, [](index_t, index_t) { return 47.5; });
  run.launch("20 elements, one warp", Dim3{1}, PartialSum{}, puzzle::line(a), puzzle::line(out));
  run.goal("requests to shared memory, and barriers",
           double(run.total().shared_load_requests + run.total().shared_store_requests +
                  run.total().block_barriers),
           0);
}
