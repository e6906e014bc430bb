#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 128, 0.25);
  const auto at = [](index_t i) { return i < 0 || i > 127 ? 0.0 : double(i) / 4; };
  auto out = puzzle::output("out", 1, 128,
                            [=](index_t, index_t i) { return at(i - 1) + 2 * at(i) + at(i + 1); });
  run.launch("128 elements in four blocks", Dim3{4}, Convolution{}, puzzle::line(a),
             puzzle::line(out));
  run.goal("loads from global memory, in warps", double(run.total().global_load_requests), 10,
           "each block loads its 32 elements once, and one more on either side");
}
