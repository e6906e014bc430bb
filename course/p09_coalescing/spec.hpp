#include "tessera/check/explain.hpp"
#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto a = puzzle::counting("a", 64, 32, 0.25);
  auto out = puzzle::output("out", 64, 32, [](index_t i, index_t j) { return (32 * i + j) / 2.0; });
  run.launch("64 x 32 in 8 blocks", Dim3{8}, Twice{}, a, out);
  run.goal("sectors of global memory for a request, on average",
           check::sectors_per_request(run.total()), 4);
  run.goal("requests to global memory, in warps",
           double(run.total().global_load_requests + run.total().global_store_requests), 128,
           "each element is loaded once and stored once");
}
