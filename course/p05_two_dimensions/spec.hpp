#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 3, 5), b = puzzle::counting("b", 1, 5, 100);
  auto out = puzzle::output("out", 3, 5, [](index_t i, index_t j) { return 5.0 * i + 101.0 * j; });
  run.launch("3 x 5, block of 8 x 4", Dim3{1}, AddRow{}, a, puzzle::line(b), out);
}
