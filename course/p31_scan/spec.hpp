#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 64, 0.25);
  auto out =
      puzzle::output("out", 1, 64, [](index_t, index_t i) { return double(i * (i + 1)) / 8; });
  run.launch_with({.changes_tiles = true}, "64 elements, one block", Dim3{1}, Scan{},
                  puzzle::line(a), puzzle::line(out));
  run.goal("barriers of the block", double(run.total().block_barriers), 13,
           "two barriers in each of the six steps, and one before them");
}
