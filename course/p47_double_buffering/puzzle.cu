// Puzzle 47 in plain CUDA: double buffering.
// C = A * B, (16,64) times (64,16), in four steps of 16 along k. While the block multiplies one
// pair of tiles, copies of the next pair are under way. One barrier in each step is enough.
#include <cuda_pipeline.h>

constexpr int T = 16, STEPS = 4;

__global__ void double_buffered(const float* A, const float* B, float* C) {
  __shared__ float a[2][T][T], b[2][T][T];  // of step k: a[k % 2], b[k % 2]
  const int x = threadIdx.x, y = threadIdx.y;
  const auto load = [&](int k) {
    __pipeline_memcpy_async(&a[k % 2][y][x], &A[y * STEPS * T + k * T + x], sizeof(float));
    __pipeline_memcpy_async(&b[k % 2][y][x], &B[(k * T + y) * T + x], sizeof(float));
    __pipeline_commit();
  };
  float sum = 0;
  load(0);
  for (int k = 0; k < STEPS; ++k) {
    //> CHANGE the lines below, which are right but wait for each tile: copy step k + 1 while step k is multiplied, with one barrier
    __pipeline_wait_prior(0);
    __syncthreads();  // step k has arrived, and nobody reads the tiles of step k - 1 any more
    if (k + 1 < STEPS) load(k + 1);
    for (int i = 0; i < T; ++i) sum += a[k % 2][y][i] * b[k % 2][i][x];
    //> instead
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += a[k % 2][y][i] * b[k % 2][i][x];
    __syncthreads();
    if (k + 1 < STEPS) load(k + 1);
    //> end
  }
  C[y * T + x] = sum;
}
