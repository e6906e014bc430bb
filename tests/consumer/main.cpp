// The smallest program that uses Tessera as a library: C = A * B, printed.
#include <cstdio>
#include <tessera/matmul/matmul.hpp>

int main() {
  const float A[] = {1, 2, 3, 4};  // (2,2)
  const float B[] = {5, 6, 7, 8};  // (2,2)
  float C[4] = {};                 // (2,2)
  tessera::matmul(tessera::matrix(A, 2, 2), tessera::matrix(B, 2, 2), tessera::matrix(C, 2, 2));
  std::printf("%g %g\n%g %g\n", double(C[0]), double(C[1]), double(C[2]), double(C[3]));
}
