#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 1, 128, 0.25);
  auto out =
      puzzle::output("out", 1, 4, [](index_t, index_t w) { return 124.0 + 256.0 * double(w); });
  puzzle::expect_mistakes(
      out, {{"one-product", [](index_t, index_t w) { return 7.75 + 8.0 * double(w); },
             "only the last of the 32 numbers has arrived",
             "add what the lane above has to your own sum: +="},
            {"not-all", [](index_t, index_t w) { return 60.0 + 128.0 * double(w); },
             "the numbers at odd positions are missing: that is the last step, step = 1",
             "the loop runs while step > 0"}});
  run.launch("128 elements, four warps", Dim3{1}, WarpSum{}, puzzle::line(a), puzzle::line(out));
  run.goal(
      "requests to shared memory, and barriers",
      double(run.total().shared_load_requests + run.total().shared_store_requests +
             run.total().block_barriers),
      0,
      "the lanes of a warp exchange registers: t.shuffle_down needs neither a tile nor a barrier");
}
