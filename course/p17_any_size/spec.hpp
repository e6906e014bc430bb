#include <array>

#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  for (const auto& [M, N, K] : {std::array<index_t, 3>{10, 13, 11}, {17, 9, 20}, {3, 5, 2}}) {
    const auto A = puzzle::scattered("A", M, K, 1), B = puzzle::scattered("B", K, N, 2);
    auto C = puzzle::product("C", A, B, 8);
    const int across = int(N + 7) / 8, down = int(M + 7) / 8;
    run.launch_with({.numbers = {M, N, K}}, cat("(", M, ",", K, ") times (", K, ",", N, ")"),
                    Dim3{across, down}, TiledAnySize{}, A, B, C);
    const auto& total = run.total();
    const double in_a_round = 2.0 * 8 * 8 * across * down;
    run.goal("rounds that are too many",
             double(total.shared_store_bytes) / 4 / in_a_round - double((K + 7) / 8), 0,
             "K / T rounds, rounded up: k runs while k < K, in steps of T");
    run.goal("elements that are read too often",
             double(total.global_load_bytes) / 4 - double(across * M * K + down * K * N), 0,
             "a block reads each element of its strips once, into a tile, and multiplies from it");
  }
}
