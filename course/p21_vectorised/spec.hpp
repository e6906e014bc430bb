#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::scattered("A", 32, 32, 1), B = puzzle::scattered("B", 32, 32, 2);
  auto C = puzzle::product("C", A, B, 16);
  run.launch("(32,32) times (32,32)", Dim3{1}, Vectorised{}, A, B, C);
  run.goal("loads from global memory, in warps", double(run.total().global_load_requests), 16,
           "both copies take four elements at a time: 16 bytes are four floats");
}
