#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::counting("A", 2, 2), B = puzzle::counting("B", 2, 2, 2);
  auto C = puzzle::product("C", A, B), D = puzzle::product("C", A, B);
  if (run.wants("naive")) run.launch("naive: 2 x 2", Dim3{1}, Naive{}, A, B, C);
  if (run.wants("single-block")) run.launch("single-block: 2 x 2", Dim3{1}, SingleBlock{}, A, B, D);
}
