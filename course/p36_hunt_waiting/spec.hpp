#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::scattered("a", 1, 100, 3);
  auto out = puzzle::output("out", 1, 100, [&](index_t, index_t i) {
    return (double(a.values(0, i)) + double(a.values(0, 99 - i))) / 2;
  });
  run.launch("100 elements, 128 threads", Dim3{1}, Mirror{}, puzzle::line(a), puzzle::line(out));
  run.goal("barriers of the block", double(run.total().block_barriers), 1,
           "one barrier is needed: between storing and reading");
}
