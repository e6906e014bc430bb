#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::scattered("a", 32, 32, 3), x = puzzle::scattered("x", 1, 32, 4);
  auto out = puzzle::output("out", 1, 32, [&](index_t, index_t i) {
    double sum = 0;
    for (index_t k = 0; k < 32; ++k) sum += double(a.values(i, k)) * double(x.values(0, k));
    return sum;
  });
  run.launch_with({.chooses_tiles = true}, "32 x 32 times a vector", Dim3{1}, MatrixVector{}, a,
                  puzzle::line(x), puzzle::line(out));
  run.goal(
      "conflicts in shared memory, in passes",
      double(run.total().shared_load_wavefronts - run.total().shared_load_wavefronts_ideal +
             run.total().shared_store_wavefronts - run.total().shared_store_wavefronts_ideal),
      0,
      "32 threads read one column of the tile: element (i, k) is in bank (pitch * i + k) mod 32");
}
