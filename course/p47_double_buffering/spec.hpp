#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::scattered("A", 16, 64, 1), B = puzzle::scattered("B", 64, 16, 2);
  auto C = puzzle::product("C", A, B, 16);
  run.launch("(16,64) times (64,16)", Dim3{1}, DoubleBuffered{}, A, B, C);
  run.goal("barriers of the block", double(run.total().block_barriers), 4,
           "start the copies of step k + 1 after the barrier of step k: no thread reads its tiles "
           "any more");
}
