#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::scattered("A", 20, 40, 1), B = puzzle::scattered("B", 40, 24, 2);
  auto C = puzzle::product("C", A, B, 16);
  run.launch("(20,40) times (40,24)", Dim3{2, 2}, Published{}, A, B, C);
  run.goal("barriers of a block", double(run.total().block_barriers) / 4, 6,
           "in each of the three rounds one barrier after the writing and one after the reading");
}
