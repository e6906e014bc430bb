#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 100);
  auto out = puzzle::output("out", 1, 100, [](index_t, index_t i) { return i + 10.0; });
  run.launch("100 elements, 4 blocks of 32 threads", Dim3{4}, AddTenInBlocks{}, puzzle::line(a),
             puzzle::line(out));
}
