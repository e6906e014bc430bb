// Your first kernel: C = A * B. A block of kTile x kTile threads stages tiles of A and B in shared
// memory, and each thread computes one element of C. Here the CPU runs what a GPU would run. A is
// (M,K), B is (K,N), C is (M,N).
#include <cstdio>
#include <vector>

#include "tessera/matmul/matmul.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/simt/launch.hpp"
#include "tessera/tensor/storage.hpp"

using namespace tessera;

constexpr int kTile = 16;  // at most 32: a block has at most 1024 threads

struct MyProduct {
  static constexpr const char* name = "my_product";
  static constexpr Dim3 block{kTile, kTile};
  /// How many blocks cover an extent.
  static int blocks(int extent) { return static_cast<int>(ceil_div(extent, kTile)); }
  struct Shared {
    Tile<float, kTile, kTile> a, b;
  };

  TESSERA_KERNEL void operator()(auto t, auto A, auto B, auto C) const {
    auto& s = shared<Shared>(t);
    const int row = t.thread.y, col = t.thread.x;
    auto mine = tile<kTile, kTile>(C, t.block.y, t.block.x);  // (kTile,kTile), clipped at the edge
    float sum = 0;
    for (index_t k = 0; k < tiles<1>(A, kTile); ++k) {
      t.superstep("load", [&] {
        copy(t, tile<kTile, kTile>(A, t.block.y, k), s.a.view());  // past the edge reads as zero
        copy(t, tile<kTile, kTile>(B, k, t.block.x), s.b.view());
      });  // both tiles are complete
      t.superstep("multiply", [&] {
        for (int i = 0; i < kTile; ++i) sum = fma(s.a(row, i), s.b(i, col), sum);
      });  // both tiles may be overwritten
    }
    if (mine.contains(row, col)) mine(row, col) = sum;
  }
};

int main() try {
  const int M = 100, N = 70, K = 50;  // no multiples of kTile, on purpose
  std::vector<float> a(M * K), b(K * N), c(M * N), expected(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = static_cast<float>(i % 7) / 3;
  for (int i = 0; i < K * N; ++i) b[i] = static_cast<float>(i % 5) / 9;

  launch(Dim3{MyProduct::blocks(N), MyProduct::blocks(M)}, MyProduct{},
         tensor<kRowMajorMatrix>(a.data(), M, K, K),   // (M,K), rows K apart
         tensor<kRowMajorMatrix>(b.data(), K, N, N),   // (K,N), rows N apart
         tensor<kRowMajorMatrix>(c.data(), M, N, N));  // (M,N), rows N apart

  matmul(matrix(a.data(), M, K), matrix(b.data(), K, N), matrix(expected.data(), M, N));
  std::printf("C(99,69) = %.6f, the library says %.6f: %s\n", static_cast<double>(c[M * N - 1]),
              static_cast<double>(expected[M * N - 1]),
              c == expected ? "the same bits everywhere" : "NOT THE SAME");
  return c == expected ? 0 : 1;
} catch (const Error& error) {  // a kernel that went wrong says what, where and which threads
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
