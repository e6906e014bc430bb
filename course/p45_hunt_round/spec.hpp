#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::scattered("a", 1, 64, 9);
  std::vector<double> now(64);
  for (index_t i = 0; i < 64; ++i) now[i] = double(a.values(0, i));
  for (int round = 0; round < 3; ++round) {
    const std::vector<double> before = now;
    for (index_t i = 1; i < 63; ++i) now[i] = (before[i - 1] + 2 * before[i] + before[i + 1]) / 4;
  }
  auto out = puzzle::output("out", 1, 64, [=](index_t, index_t i) { return now[i]; });
  run.launch_with({.changes_tiles = true}, "64 elements, three rounds", Dim3{1}, Smooth{},
                  puzzle::line(a), puzzle::line(out));
  run.goal("barriers of the block", double(run.total().block_barriers), 4,
           "one before the rounds, one in each of them");
}
