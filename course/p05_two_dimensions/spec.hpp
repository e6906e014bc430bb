#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 3, 5, 0.25), b = puzzle::counting("b", 1, 5, 100);
  auto out = puzzle::output("out", 3, 5,
                            [](index_t i, index_t j) { return (5.0 * i + j) / 4 + 100.0 * j; });
  puzzle::expect_mistakes(
      out, {{"other-product",
             [](index_t i, index_t j) {
               const index_t n = 5 * i + j;
               return double(n % 3 * 5 + n / 3) / 4 + 100.0 * j;
             },
             "a single number in a(...) counts down the columns", "write a(row, col)"}});
  run.launch("3 x 5, block of 8 x 4", Dim3{1}, AddRow{}, a, puzzle::line(b), out);
  // A block is a single warp here, whose loads are those of its busiest thread.
  run.goal("elements that one thread loads", double(run.total().global_load_requests), 2,
           "each thread computes one element of out, from one of a and one of b: no loop");
}
