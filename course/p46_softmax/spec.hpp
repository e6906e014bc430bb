#include <cmath>

#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto value = [](index_t r, index_t j) {
    return 100.0 * double(r) + double((r * 7 + j * 13) % 32) / 4;
  };
  const auto exps = [=](index_t r, index_t j) {
    double largest = value(r, 0);
    for (index_t c = 1; c < 32; ++c) largest = std::max(largest, value(r, c));
    return std::exp(value(r, j) - largest);
  };
  const auto total = [=](index_t r, index_t step, index_t first) {
    double out = 0;
    for (index_t c = first; c < 32; c += step) out += exps(r, c);
    return out;
  };
  const auto a = puzzle::input("a", 4, 32, value);
  auto out = puzzle::output("out", 4, 32,
                            [=](index_t r, index_t j) { return exps(r, j) / total(r, 1, 0); });
  out.tolerance = 1e-5;
  puzzle::expect_mistakes(
      out, {{"factor", exps, "these are the exponentials: no row has the sum 1",
             "divide by the sum of the row"},
            {"not-all", [=](index_t r, index_t j) { return exps(r, j) / total(r, 2, j % 2); },
             "each sum has every second lane only: the last step, mask = 1, is missing",
             "the loop runs while mask > 0"}});
  run.launch("4 rows of 32", Dim3{1}, Softmax{}, a, out);
  run.goal("loads from global memory, in warps", double(run.total().global_load_requests), 4,
           "each lane keeps its number in a register");
  run.goal("requests to shared memory, and barriers",
           double(run.total().shared_load_requests + run.total().shared_store_requests +
                  run.total().block_barriers),
           0, "the lanes of a warp exchange registers: t.shuffle_xor");
}
