// The smallest program that uses Tessera as a library: C = A * B, printed; and a kernel,
// which turns each block of 32 numbers around through shared storage.
#include <cstdio>
#include <tessera/matmul/matmul.hpp>
#include <tessera/simt/launch.hpp>

struct TurnAround {
  static constexpr const char* name = "turn_around";
  static constexpr tessera::Dim3 block{32};
  struct Shared {
    int number[32];
  };
  void operator()(auto t, int* numbers) const {
    auto& s = tessera::shared<Shared>(t);
    int* mine = numbers + 32 * t.block + t.thread;
    t.superstep("load", [&] { s.number[t.thread] = *mine; });  // all 32 are there
    *mine = s.number[31 - t.thread];
  }
};

int main() {
  const float A[] = {1, 2, 3, 4};  // (2,2)
  const float B[] = {5, 6, 7, 8};  // (2,2)
  float C[4] = {};                 // (2,2)
  tessera::matmul(tessera::matrix(A, 2, 2), tessera::matrix(B, 2, 2), tessera::matrix(C, 2, 2));
  std::printf("%g %g\n%g %g\n", double(C[0]), double(C[1]), double(C[2]), double(C[3]));

  int numbers[64];
  for (int i = 0; i < 64; ++i) numbers[i] = i;
  tessera::launch(tessera::Dim3{2}, TurnAround{}, static_cast<int*>(numbers));
  for (int i = 0; i < 64; ++i) {
    if (numbers[i] != i / 32 * 32 + 31 - i % 32) return 1;
  }
}
