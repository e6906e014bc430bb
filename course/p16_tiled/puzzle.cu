// Puzzle 16 in plain CUDA: tiled matrix multiplication, and the same with asynchronous copies.
// C = A * B, all 9 x 9, on a grid of 3 x 3 blocks with 3 x 3 threads each.
#include <cuda_pipeline.h>

constexpr int SIZE = 9;  // rows and columns of A, B and C
constexpr int TPB = 3;   // threads of a block in each direction, and rows and columns of a tile

// tessera puzzle run p16 --cuda --tiled
__global__ void tiled(const float* A, const float* B, float* C) {
  __shared__ float a[TPB][TPB], b[TPB][TPB];
  const int y = threadIdx.y, x = threadIdx.x;  // my place in the tiles
  const int row = blockIdx.y * TPB + y;        // my place in C
  const int col = blockIdx.x * TPB + x;
  //> FILL ME IN (about 9 lines): for each tile along k: load, wait, multiply, wait; then store
  float sum = 0;
  for (int k = 0; k < SIZE; k += TPB) {
    a[y][x] = A[row * SIZE + k + x];
    b[y][x] = B[(k + y) * SIZE + col];
    __syncthreads();  // both tiles are complete
    for (int i = 0; i < TPB; ++i) sum += a[y][i] * b[i][x];
    __syncthreads();  // both tiles may be overwritten
  }
  C[row * SIZE + col] = sum;
  //> end
}

// tessera puzzle run p16 --cuda --idiomatic-tiled
__global__ void idiomatic_tiled(const float* A, const float* B, float* C) {
  __shared__ float a[TPB][TPB], b[TPB][TPB];
  const int y = threadIdx.y, x = threadIdx.x;
  const int row = blockIdx.y * TPB + y, col = blockIdx.x * TPB + x;
  float sum = 0;
  for (int k = 0; k < SIZE; k += TPB) {
    //> FILL ME IN (about 7 lines): __pipeline_memcpy_async(to, from, bytes) for both elements, __pipeline_commit(), __pipeline_wait_prior(0), barrier, multiply, barrier
    __pipeline_memcpy_async(&a[y][x], &A[row * SIZE + k + x], sizeof(float));
    __pipeline_memcpy_async(&b[y][x], &B[(k + y) * SIZE + col], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);  // what this thread copies has arrived
    __syncthreads();           // what the others copy has arrived too
    for (int i = 0; i < TPB; ++i) sum += a[y][i] * b[i][x];
    __syncthreads();
    //> end
  }
  //> FILL ME IN (1 line): store the sum
  C[row * SIZE + col] = sum;
  //> end
}
