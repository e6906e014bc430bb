#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 1024, 0.25);
  auto out = puzzle::output("out", 1, 4,
                            [](index_t, index_t b) { return 64.0 * (127.5 + 256.0 * double(b)); });
  puzzle::expect_mistakes(
      out, {{"one-product", [](index_t, index_t b) { return 16.0 * (223.5 + 256.0 * double(b)); },
             "only the last of the four numbers of each thread has stayed",
             "set the sum to zero once, before the loop"}});
  run.launch_with({.changes_tiles = true}, "1024 elements in four blocks", Dim3{4}, BlockSum{},
                  puzzle::line(a), puzzle::line(out));
  run.goal("loads from global memory, in warps", double(run.total().global_load_requests), 32,
           "each element is loaded once, by the thread that adds it");
}
