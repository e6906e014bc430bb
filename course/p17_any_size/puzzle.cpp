// Puzzle 17: tiled, for any size.
// C = A * B with tiles of 8 x 8, where no extent is a multiple of 8.
#include "tessera/puzzle/puzzle.hpp"

using namespace tessera;

constexpr int T = 8;

struct TiledAnySize {
  static constexpr const char* name = "tiled_any_size";
  static constexpr Dim3 block{T, T};
  struct Shared {
    Tile<float, T, T> a, b;
  };
  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int M = extent<0>(A), K = extent<1>(A), N = extent<1>(B);
    const int y = t.thread.y, x = t.thread.x;
    const int row = t.block.y * T + y, col = t.block.x * T + x;
    float sum = 0;
    //> FILL ME IN (about 8 lines): as puzzle 16, with three guards; what does not exist counts as zero
    for (int k = 0; k < K; k += T) {
      s.a(y, x) = row < M && k + x < K ? A(row, k + x) : 0.0f;
      s.b(y, x) = k + y < K && col < N ? B(k + y, col) : 0.0f;
      t.barrier();
      for (int i = 0; i < T; ++i) sum = fma(s.a(y, i), s.b(i, x), sum);
      t.barrier();
    }
    if (row < M && col < N) C(row, col) = sum;
    //> end
  }
};
