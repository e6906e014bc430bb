#include "tessera/check/explain.hpp"
#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  // Quarters: still exact, and nothing for a sum of whole numbers.
  const auto quarters = [](const char* name, index_t rows, index_t cols, int seed) {
    const auto m = puzzle::scattered(name, rows, cols, seed);
    return puzzle::input(name, rows, cols,
                         [&](index_t i, index_t j) { return double(m.values(i, j)) / 4; });
  };
  const auto A = quarters("A", 64, 16, 1), B = quarters("B", 16, 64, 2);
  auto C = puzzle::product("C", A, B);
  run.launch("(64,16) times (16,64)", Dim3{2, 8}, CoalescedProduct{}, A, B, C);
  run.goal("sectors of global memory for a request, on average",
           check::sectors_per_request(run.total()), 4);
}
