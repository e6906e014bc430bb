#include "tessera/check/explain.hpp"
#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 32, 32, 0.25);
  auto out = puzzle::output("out", 32, 32, [](index_t i, index_t j) { return (i + 32.0 * j) / 4; });
  run.launch_with({.chooses_tiles = true}, "32 x 32 in one block", Dim3{1},
                  TransposeWithoutConflicts{}, a, out);
  run.goal("passes through the banks for a request, on average",
           check::conflict_factor(run.total()), 1);
}
