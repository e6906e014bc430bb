#include <cmath>

#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::scattered("A", 8, 64, 1), B = puzzle::scattered("B", 64, 8, 2);
  auto C = puzzle::product("C", A, B, 16);
  run.launch_with({.adds_to_outputs = true}, "(8,64) times (64,8) in four parts", Dim3{1, 1, 4},
                  SplitK{}, A, B, C);
  run.goal("atomic additions that are missing or too many, in warps",
           std::abs(8 - double(run.total().global_atomic_requests)), 0,
           "each of the four blocks adds the sum of its own 16 steps of k, once");
}
