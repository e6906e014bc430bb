#include <array>

#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  for (const auto& [M, N, K] : {std::array<index_t, 3>{10, 13, 11}, {17, 9, 20}, {3, 5, 2}}) {
    const auto A = puzzle::scattered("A", M, K, 1), B = puzzle::scattered("B", K, N, 2);
    auto C = puzzle::product("C", A, B, 8);
    run.launch(cat("(", M, ",", K, ") times (", K, ",", N, ")"),
               Dim3{int(N + 7) / 8, int(M + 7) / 8}, TiledAnySize{}, A, B, C);
  }
}
