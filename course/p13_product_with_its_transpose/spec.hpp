#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::counting("A", 2, 2);
  auto C = puzzle::product_transposed("C", A, A);
  run.launch("2 x 2 in one block of 3 x 3", Dim3{1}, TimesTranspose{}, A, C);
}
