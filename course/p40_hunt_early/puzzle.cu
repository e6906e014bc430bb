// Puzzle 40 in plain CUDA: bug hunt. The report says: async-not-waited.
// C = A * B, (16,64) times (64,16), in steps of 16 along k.
// Asynchronous copies fill two pairs of tiles.
#include <cuda_pipeline.h>

constexpr int T = 16, K = 64;

__global__ void two_tiles(const float* A, const float* B, float* C) {
  __shared__ float a[2][T][T], b[2][T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const auto load = [&](int k) {
    __pipeline_memcpy_async(&a[k % 2][y][x], &A[y * K + k * T + x], sizeof(float));
    __pipeline_memcpy_async(&b[k % 2][y][x], &B[(k * T + y) * T + x], sizeof(float));
    __pipeline_commit();
  };
  float sum = 0;
  load(0);
  for (int k = 0; k < K / T; ++k) {
    //> CHANGE the lines below: run the file first, and read which copy is meant
    if (k + 1 < K / T) {
      load(k + 1);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    //> instead
    if (k + 1 < K / T) load(k + 1);
    __pipeline_wait_prior(1);
    //> end
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += a[k % 2][y][i] * b[k % 2][i][x];
    __syncthreads();
  }
  C[y * T + x] = sum;
}
