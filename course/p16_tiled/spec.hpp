#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::counting("A", 9, 9), B = puzzle::counting("B", 9, 9, 2);
  auto C = puzzle::product("C", A, B, 3), D = puzzle::product("C", A, B, 3);
  if (run.wants("tiled"))
    run.launch("tiled: 9 x 9 in tiles of 3 x 3", Dim3{3, 3}, Tiled{}, A, B, C);
  if (run.wants("idiomatic-tiled"))
    run.launch("idiomatic-tiled: 9 x 9 in tiles of 3 x 3", Dim3{3, 3}, IdiomaticTiled{}, A, B, D);
}
