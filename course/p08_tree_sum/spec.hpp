#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 64, 0.25);
  auto out = puzzle::output("out", 1, 1, [](index_t, index_t) { return 504.0; });
  puzzle::expect_mistakes(out, {{"one-product", [](index_t, index_t) { return 15.75; },
                                 "only one of the 64 numbers has arrived",
                                 "s.sums(0, i) = s.sums(0, i) + s.sums(0, i + half)"},
                                {"not-all", [](index_t, index_t) { return 248.0; },
                                 "the numbers at odd positions are missing: that is the last step, "
                                 "half = 1",
                                 "the loop runs while half > 0"}});
  run.launch_with({.changes_tiles = true}, "64 elements, one block", Dim3{1}, TreeSum{},
                  puzzle::line(a), puzzle::line(out));
  const auto& total = run.total();
  run.goal("loads that the warps wait for",
           double(total.global_load_requests + total.shared_load_requests), 15,
           "share the work: in each step the first half of the threads add one pair each");
}
