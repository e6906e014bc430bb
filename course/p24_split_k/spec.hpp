#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::scattered("A", 8, 64, 1), B = puzzle::scattered("B", 64, 8, 2);
  auto C = puzzle::product("C", A, B, 16);
  run.launch_with({.adds_to_outputs = true}, "(8,64) times (64,8) in four parts", Dim3{1, 1, 4},
                  SplitK{}, A, B, C);
}
