#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 5, 0.25);
  auto out = puzzle::output("out", 1, 5, [](index_t, index_t i) { return i / 4.0 + 10; });
  run.launch("5 elements, 8 threads", Dim3{1}, AddTenGuarded{}, puzzle::line(a), puzzle::line(out));
  // A block is a single warp here, whose loads are those of its busiest thread.
  run.goal("elements that one thread loads", double(run.total().global_load_requests), 1,
           "no loop: each thread computes its own element");
}
