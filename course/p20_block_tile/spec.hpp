#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::scattered("A", 32, 16, 1), B = puzzle::scattered("B", 16, 32, 2);
  auto C = puzzle::product("C", A, B);
  run.launch("(32,16) times (16,32)", Dim3{1}, BlockTile{}, A, B, C);
  const double multiplies = run.is_cuda() ? 16384 : double(run.total().fma_threads);
  run.goal("elements read from shared memory for each multiplication",
           double(run.total().shared_load_bytes) / 4 / (multiplies > 0 ? multiplies : 1), 0.5,
           multiplies > 0 ? "read TM elements of a and TN of b once, and use only those"
                          : "no fma was seen: write sum[i][j] = fma(a[i], b[j], sum[i][j])");
  run.goal("multiplications", multiplies, 16384, "each product is added once");
  run.goal("elements that are read from global memory", double(run.total().global_load_bytes) / 4,
           1024, "multiply from the tiles, s.a and s.b, not from A and B");
}
