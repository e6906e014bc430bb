#include "tessera/check/explain.hpp"
#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::scattered("A", 64, 16, 1), B = puzzle::scattered("B", 16, 64, 2);
  auto C = puzzle::product("C", A, B);
  run.launch("(64,16) times (16,64)", Dim3{2, 8}, CoalescedProduct{}, A, B, C);
  run.goal("sectors of global memory for a request, on average",
           check::sectors_per_request(run.total()), 4);
  run.goal("requests to global memory, in warps",
           double(run.total().global_load_requests + run.total().global_store_requests), 4224,
           "a thread loads 16 elements of A and 16 of B, and stores one");
}
