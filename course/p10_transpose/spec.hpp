#include "tessera/check/explain.hpp"
#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 32, 32, 0.25);
  auto out = puzzle::output("out", 32, 32, [](index_t i, index_t j) { return (i + 32.0 * j) / 4; });
  puzzle::expect_mistakes(
      out,
      {{"swapped-indices", [](index_t i, index_t j) { return (32.0 * double(i) + double(j)) / 4; },
        "out is a itself: nothing is transposed",
        "exchange the indices where the tile is read, s.tile(x, y), or "
        "where it is written, not in both lines"}});
  run.launch("32 x 32 in one block", Dim3{1}, Transpose{}, a, out);
  run.goal("sectors of global memory for a request, on average",
           check::sectors_per_request(run.total()), 4);
  run.goal("requests to global memory, in warps",
           double(run.total().global_load_requests + run.total().global_store_requests), 64,
           "each element is loaded once and stored once: a thread has four");
}
