#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 64);
  auto out = puzzle::output("out", 1, 64, [](index_t, index_t i) { return 63.0 - i; });
  run.launch("64 elements, one block", Dim3{1}, Reversed{}, puzzle::line(a), puzzle::line(out));
}
