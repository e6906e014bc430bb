#include <cmath>

#include "tessera/puzzle/run.hpp"

inline void spec(tessera::puzzle::Run& run) {
  using namespace tessera;
  const auto A = puzzle::scattered("A", 16, 16, 1), B = puzzle::scattered("B", 16, 8, 2);
  auto C = puzzle::product("C", A, B, 8);
  run.launch("(16,16) times (16,8)", Dim3{1}, OneWarp{}, A, B, C);
  run.goal("matrix instructions that are missing or too many",
           std::abs(2 - double(run.total().mma_instructions)), 0,
           "Mma::mma(t, sum, a, b) in each of the two rounds: the sums are the tensor core's work");
  run.goal("multiplications by the threads themselves", double(run.total().fma_threads), 0,
           "Mma::mma(t, sum, a, b) in each of the two rounds: the sums are the tensor core's work");
}
