#include "tessera/check/explain.hpp"
#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::scattered("A", 32, 32, 1), B = puzzle::scattered("B", 32, 32, 2);
  auto C = puzzle::product_transposed("C", A, B, 16);
  puzzle::expect_mistakes(C, {{"other-product",
                               [&](index_t i, index_t j) {
                                 double sum = 0;
                                 for (index_t k = 0; k < 32; ++k)
                                   sum += double(A.values(i, k)) * B.values(k, j);
                                 return sum;
                               },
                               "this is A * B, but here B is (N,K)",
                               "element (k, col) of the second factor is B(col, k)"}});
  run.launch("(32,32) times (32,32) transposed", Dim3{2, 2}, TransposedLoading{}, A, B, C);
  run.goal("sectors of global memory for a request, on average",
           check::sectors_per_request(run.total()), 4);
  run.goal("requests to global memory, in warps",
           double(run.total().global_load_requests + run.total().global_store_requests), 160,
           "a thread loads one element of each tile in a round, and stores one at the end");
}
