#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 300, 0.25);
  auto out = puzzle::output("out", 1, 300, [](index_t, index_t i) { return double(i) / 2 + 1; });
  run.launch("300 elements, two blocks", Dim3{2}, Strided{}, puzzle::line(a), puzzle::line(out));
  run.goal("loads from global memory, in warps", double(run.total().global_load_requests), 10,
           "each element is loaded once: 300 elements are ten warps");
}
