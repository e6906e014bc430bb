#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::scattered("a", 64, 64, 7);
  auto out = puzzle::output("out", 1, 64, [&](index_t, index_t r) {
    double sum = 0;
    for (index_t c = 0; c < 64; ++c) sum += double(a.values(r, c));
    return sum;
  });
  run.launch("64 rows of 64", Dim3{2}, RowSums{}, a, puzzle::line(out));
  run.goal("sectors of global memory for a load, on average",
           double(run.total().global_load_sectors) / double(run.total().global_load_requests), 4,
           "the 32 lanes of a warp have consecutive t.thread.x: let them load consecutive elements "
           "of a row");
  run.goal("conflicts in shared memory, in passes",
           double(run.total().shared_load_wavefronts - run.total().shared_load_wavefronts_ideal), 0,
           "32 threads read one column of the tile: its rows have 65 elements for that");
}
